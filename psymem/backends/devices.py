"""Which processors torch can compute on here."""

from __future__ import annotations

import torch

from psymem.errors import ModelError


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


def move(network: torch.nn.Module, device: str, name: str) -> None:
    """Move the network of the model `name` to a device; raises ModelError if there is none of this name here."""
    try:
        network.to(device)
    except (RuntimeError, AssertionError) as error:  # torch raises either
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name} cannot be moved to device {device!r}: {reason.rstrip('.')}. Here there are: "
            f"{', '.join(available_devices())}."
        ) from error


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out; on CPUs torch says so in words only."""
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or "not enough memory" in str(error)
