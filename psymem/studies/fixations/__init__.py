"""Model fixations beside people's."""
