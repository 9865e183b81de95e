"""The tabs of the page: each lays its components out and wires them."""
