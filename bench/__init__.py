"""Speed beside its floor: `python -m bench search|save|start|write --json`."""
