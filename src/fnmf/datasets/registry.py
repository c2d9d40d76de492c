"""What is known about each public data set: where it lies, how it is read, how it is proved."""

from collections.abc import Callable
from dataclasses import dataclass

from fnmf.datasets import _parsers
from fnmf.datasets._parsers import Arrays, Originals

_UCI = "https://archive.ics.uci.edu/static/public"
_UCI_OLD = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_CAI = "http://www.cad.zju.edu.cn/home/dengcai/Data"
_ESL = "https://hastie.su.domains/ElemStatLearn/datasets"
_ESL_OLD = "https://web.stanford.edu/~hastie/ElemStatLearn/datasets"

_CC_BY = "CC BY 4.0 (UCI Machine Learning Repository); check the page before redistributing."


@dataclass(frozen=True)
class Original:
    """One original public file, by itself or as a member of an archive.

    ``sha256`` is that of the file itself, not of an archive around it. Where it is not
    known, the arrays read from the file are proved instead.
    """

    member: str
    addresses: tuple[str, ...]
    sha256: str | None = None


@dataclass(frozen=True)
class Source:
    """A public data set."""

    name: str
    paper_name: str
    shape: tuple[int, int]
    n_classes: int
    stem: str  # of the .npz file
    originals: tuple[Original, ...]
    parse: Callable[[Originals], Arrays]
    arrays_sha256: str
    description: str
    citation: str
    licence: str
    page: str
    # A last step that rounds: what is proved, and kept in the cache, are the arrays before it.
    finish: Callable[[Arrays], Arrays] | None = None
    raw_sha256: str | None = None
    scale: tuple[float, float] = (0.0, 1.0)  # X becomes (X + first) / second


_SOURCES = (
    Source(
        name="yale",
        paper_name="YALE",
        shape=(165, 256),
        n_classes=15,
        stem="yale",
        originals=(
            Original(
                "Yale_32x32.mat",
                (f"{_CAI}/Yale/Yale_32x32.mat",),
                "beb3cc9f448c1ab786583c8f5429368c299843ee88263f9650ed463004ef7633",
            ),
        ),
        parse=_parsers.yale,
        arrays_sha256="7ddac73cfbb88793127354940a86af596a35068d2bcd0c22b6c44bbc8c947524",
        description=(
            "Faces of 15 persons, 11 images each, 16 x 16 pixels from 0 to 255. No public file "
            "has this size: every pixel is the mean of a 2 x 2 block of Deng Cai's 32 x 32 crop. "
            "Which resampling the paper used is not known."
        ),
        citation=(
            "Belhumeur, Hespanha, Kriegman: Eigenfaces vs. Fisherfaces. IEEE Transactions on "
            "Pattern Analysis and Machine Intelligence 19(7), 1997."
        ),
        licence="None stated; known as free for non-commercial research.",
        page="http://www.cad.zju.edu.cn/home/dengcai/Data/FaceData.html",
    ),
    Source(
        name="orl",
        paper_name="ORL",
        shape=(400, 1024),
        n_classes=40,
        stem="orl",
        originals=(
            Original(
                "ORL_32x32.mat",
                (f"{_CAI}/ORL/ORL_32x32.mat",),
                "c30cb53be2cab2da293eaeb35c1a7c16cad513fa14d0400ad5ed51f03e1ce7c8",
            ),
        ),
        parse=_parsers.orl,
        arrays_sha256="284adc9587e07f35bef9fd374c605d6932799702b8aaaf68f19566b677ecc0b3",
        description="Faces of 40 persons, 10 images each, 32 x 32 pixels from 2 to 235.",
        citation=(
            "Samaria, Harter: Parameterisation of a stochastic model for human face "
            "identification. IEEE Workshop on Applications of Computer Vision, 1994."
        ),
        licence="None stated; credit to AT&T Laboratories Cambridge is asked for.",
        page="http://www.cad.zju.edu.cn/home/dengcai/Data/FaceData.html",
    ),
    Source(
        name="binary-alphadigits",
        paper_name="BA",
        shape=(1404, 320),
        n_classes=36,
        stem="binary_alphadigits",
        originals=(
            Original(
                "binaryalphadigs.mat",
                ("https://cs.nyu.edu/~roweis/data/binaryalphadigs.mat",),
                "3ee9392e64e4e3bb7b35502b69bf2555a0b4197c1b31048c4189b84bc0bc6ea7",
            ),
        ),
        parse=_parsers.binary_alphadigits,
        arrays_sha256="4e0c4b3ef164d756f3b2c92af4b2e1b329c1c950bbb87904e83619182909aef8",
        description=(
            "Digits 0 to 9 and capitals A to Z, 39 binary images of 20 x 16 each. In the original "
            'the classes "0" (index 0) and "O" (index 24) are the same 39 images, so that no '
            "method can tell them apart: the best reachable accuracy is 0.972."
        ),
        citation="Roweis: Data for MATLAB hackers, Binary Alphadigits. New York University.",
        licence="None known.",
        page="https://cs.nyu.edu/~roweis/data.html",
    ),
    Source(
        name="usps",
        paper_name="USPS",
        shape=(1854, 256),
        n_classes=10,
        stem="usps_1854",
        originals=(
            Original("zip.train", (f"{_ESL}/zip.train.gz", f"{_ESL_OLD}/zip.train.gz")),
            Original("zip.test", (f"{_ESL}/zip.test.gz", f"{_ESL_OLD}/zip.test.gz")),
        ),
        parse=_parsers.usps,
        arrays_sha256="1806087c2e9edc24adeecf9b5f3b80ac9c403f2303fb0fccf52400b00f018eaa",
        finish=_parsers.smoothed_usps,
        raw_sha256="b828f93680dc0e94fa25769f5c1f54de041f38fd1ebb9839da0b7224ed974f2a",
        scale=(1.0, 2.0),
        description=(
            "Handwritten digits, 16 x 16 pixels: the subset of 1854 samples used by many papers, "
            "floor(20 %) of each class, smoothed by a Gaussian of width 0.75. The source has "
            "-1 for the background; values here are (x + 1) / 2, from 0 to 1. Rebuilt from the "
            "public files, it agrees with the copy in circulation to 1e-6."
        ),
        citation=(
            "Hull: A database for handwritten text recognition research. IEEE Transactions on "
            "Pattern Analysis and Machine Intelligence 16(5), 1994."
        ),
        licence="None stated; made available by the neural network group at AT&T Research Labs.",
        page="https://hastie.su.domains/ElemStatLearn/data.html",
    ),
    Source(
        name="semeion",
        paper_name="Semeion",
        shape=(1593, 256),
        n_classes=10,
        stem="semeion",
        originals=(
            Original(
                "semeion.data",
                (f"{_UCI}/178/semeion+handwritten+digit.zip", f"{_UCI_OLD}/semeion/semeion.data"),
                "f43228ae3da5ea6a3c95069d53450b86166770e3b719dcc333182128fe08d4b1",
            ),
        ),
        parse=_parsers.semeion,
        arrays_sha256="7e235a7983802554a7dea5dec3aa22097e6db7848aea164dc3b35c41e4b2a7c9",
        description="Handwritten digits by about 80 persons, 16 x 16 binary pixels.",
        citation="Semeion Handwritten Digit. UCI Machine Learning Repository, doi 10.24432/C5SC8V.",
        licence=_CC_BY,
        page="https://archive.ics.uci.edu/dataset/178/semeion+handwritten+digit",
    ),
    Source(
        name="cnae-9",
        paper_name="CNAE-9",
        shape=(1080, 856),
        n_classes=9,
        stem="cnae9",
        originals=(
            Original("CNAE-9.data", (f"{_UCI}/233/cnae+9.zip", f"{_UCI_OLD}/00233/CNAE-9.data")),
        ),
        parse=_parsers.cnae9,
        arrays_sha256="9a899af8a7ee001ab603061d8a3f4b05648b944def06a80f108364a8b46cc761",
        description=(
            "Business descriptions of Brazilian companies as word counts, 120 of each of nine "
            "kinds. Density 0.78 %; 373 words occur once only. Row 969 has no word at all, so "
            "that scaling samples to unit length must leave it zero."
        ),
        citation="CNAE-9. UCI Machine Learning Repository, doi 10.24432/C51G7P.",
        licence=_CC_BY,
        page="https://archive.ics.uci.edu/dataset/233/cnae+9",
    ),
    Source(
        name="glass",
        paper_name="Glass",
        shape=(214, 9),
        n_classes=6,
        stem="glass",
        originals=(
            Original(
                "glass.data",
                (f"{_UCI}/42/glass+identification.zip", f"{_UCI_OLD}/glass/glass.data"),
            ),
        ),
        parse=_parsers.glass,
        arrays_sha256="d916edd42d8d401dc3684ada3fafc7e859bd82a8c15c8ee9d11a608299e07d51",
        description=(
            "Refractive index and oxide contents of six types of glass. Features differ widely "
            "in scale (Si about 72, Fe about 0.05); type 4 does not occur."
        ),
        citation="Glass Identification. UCI Machine Learning Repository, doi 10.24432/C5WW2P.",
        licence=_CC_BY,
        page="https://archive.ics.uci.edu/dataset/42/glass+identification",
    ),
    Source(
        name="mfeat",
        paper_name="Mfeat",
        shape=(2000, 240),
        n_classes=10,
        stem="mfeat_pix",
        originals=(
            Original(
                "mfeat-pix",
                (f"{_UCI}/72/multiple+features.zip", f"{_UCI_OLD}/mfeat/mfeat-pix"),
                "70a1cd033add46614464a8740ddc23c3693765985bde52ccb6b702bff23b64f1",
            ),
        ),
        parse=_parsers.mfeat_pix,
        arrays_sha256="272dd41fea5721b9337e71b11d86adcf478f719ab5da335a392fba365f337b89",
        description=(
            "Handwritten digits, 200 of each, as averages of 2 x 3 pixel windows: 16 x 15 values "
            "from 0 to 6. The paper's 240 features are this one view of Multiple Features."
        ),
        citation="Multiple Features. UCI Machine Learning Repository, doi 10.24432/C5HC70.",
        licence=_CC_BY,
        page="https://archive.ics.uci.edu/dataset/72/multiple+features",
    ),
)

SOURCES: dict[str, Source] = {source.name: source for source in _SOURCES}
