"""Other values for the block ``publication`` of a copied ``_config.yml``."""

import re

BLOCK = re.compile(r"^publication:\n(?:  .*\n)+", re.MULTILINE)


def fill(root, **values):
    """Replace the block of a copy's ``_config.yml``."""
    path = root / "_config.yml"
    block = "publication:\n" + "".join(f"  {k}: '{v}'\n" for k, v in values.items())
    text, count = BLOCK.subn(block, path.read_text("utf-8"))
    assert count == 1
    path.write_text(text, "utf-8")
