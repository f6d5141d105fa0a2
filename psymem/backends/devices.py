"""Which processors torch can compute on here."""

from __future__ import annotations

import torch


def available_devices() -> list[str]:
    """Name every device torch can use, the CPU first: "cpu", "cuda:0 (NVIDIA A100)", "mps"."""
    cards = [f"cuda:{i} ({torch.cuda.get_device_name(i)})" for i in range(torch.cuda.device_count())]
    return ["cpu", *cards, *(["mps"] if torch.backends.mps.is_available() else [])]


def compute_threads() -> int:
    """Return how many threads torch uses on the CPU (the variable OMP_NUM_THREADS sets it)."""
    return torch.get_num_threads()


def largest_error(device: str) -> float:
    """Multiply two small matrices on `device` and return the largest difference from the exact product.

    Parameters
    ----------
    device
        What torch calls it: "cpu", "cuda:0", "mps".

    Returns
    -------
    float
        0.0 where the device computes properly: all numbers are small integers, exact in every precision.
    """
    left = torch.arange(12.0).reshape(3, 4)
    exact = (left.double() @ left.T.double()).float()
    product = left.to(device) @ left.T.to(device)
    return float((product.cpu() - exact).abs().max())
