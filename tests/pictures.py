"""Compare two PNG pictures by what the eye would notice.

Two runs of the same code need not give the same pixels: on another processor a
number may differ in its last digit and a line's edge be a shade lighter. Both
pictures are blurred, which evens this out, and then the point where they differ
most is looked at. A mean over the picture would miss a changed digit.

How the bound was chosen (Matplotlib 3.11, grey levels of 255, four typical
figures): data changed by 1e-6 moved at most 2; a line plot shifted by a whole
pixel 18. Wrong numbers written into a heat map moved 25, one changed letter in
a title 33, a digit 40, a curve scaled by 1.05 65, another colour 143. A release
of Matplotlib that draws text differently moves 32 to 45 (3.10 against 3.11):
the pictures hold for the release that requirements.txt names.
"""

import base64
import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

BLUR = 3  # pixels
TOLERANCE = 20  # grey levels of 255
SIZE_TOLERANCE = 2  # pixels: the margins are cut to fit the text


def stored_in(outputs):
    """PNG bytes of all pictures in a notebook cell's outputs, in order."""
    return [
        base64.b64decode(output["data"]["image/png"])
        for output in outputs
        if "image/png" in output.get("data", {})
    ]


def difference(expected, actual):
    """Say in what two PNG pictures (bytes) differ; "" where they agree."""
    if expected == actual:
        return ""
    images = [Image.open(io.BytesIO(png)) for png in (expected, actual)]
    (w, h), (other_w, other_h) = (image.size for image in images)
    if max(abs(w - other_w), abs(h - other_h)) > SIZE_TOLERANCE:
        return f"the size is {other_w} x {other_h} pixels instead of {w} x {h}"
    common = (0, 0, min(w, other_w), min(h, other_h))
    blurred = [
        np.asarray(on_white(image).crop(common).filter(ImageFilter.GaussianBlur(BLUR)))
        for image in images
    ]
    off = np.abs(blurred[0].astype(int) - blurred[1]).max(axis=-1)
    if off.max() <= TOLERANCE:
        return ""
    y, x = np.unravel_index(off.argmax(), off.shape)
    makers = [image.info.get("Software", "unknown").split(",")[0] for image in images]
    drawn_by = "" if makers[0] == makers[1] else f", {makers[1]} instead of {makers[0]}"
    return (
        f"{off.max()} of 255 grey levels off at x={x}, y={y} "
        f"({off.mean():.2g} on average, at most {TOLERANCE} allowed){drawn_by}"
    )


def on_white(image):
    """RGB copy of an image, its transparent parts white as on a page."""
    rgba = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert(
        "RGB"
    )


def save_pair(expected, actual):
    """Write two PNG pictures (bytes) where they can be looked at; the folder."""
    folder = Path(tempfile.mkdtemp(prefix="pictures-"))
    (folder / "stored.png").write_bytes(expected)
    (folder / "new.png").write_bytes(actual)
    return folder
