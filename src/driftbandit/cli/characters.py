"""Characters that a terminal or a pipe cannot encode are spelt out (β as beta, ± as +/-) instead of raising an error."""

import codecs
import io
import sys
import unicodedata

SPELLINGS = {
    **{"±": "+/-", "×": "x", "−": "-", "–": "-", "—": "-", "·": "*", "∘": "o", "√": "sqrt ", "∝": "~", "≈": "~"},
    **{"≤": "<=", "≥": ">=", "→": "->", "←": "<-", "‖": "||", "⟨": "<", "⟩": ">", "…": "...", "⁄": "/"},
    **{"“": '"', "”": '"', "‘": "'", "’": "'", "•": "*", "█": "#", "━": "-", "╸": "-", "╺": "-"},
}


def spelt(sign: str) -> str:
    """One character in ASCII; "?" where no spelling is known."""
    if sign in SPELLINGS:
        return SPELLINGS[sign]
    name = unicodedata.name(sign, "")
    if name.startswith("GREEK") and "LETTER" in name:
        letter = name.split()[3].lower().replace("lamda", "lambda")
        return letter.title() if "CAPITAL" in name else letter
    power = "^" if unicodedata.decomposition(sign).startswith("<super>") else ""
    parts = (SPELLINGS.get(part, part) for part in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(part))
    text = power + "".join(parts)
    return text if text.isascii() else "?"


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(spelt, error.object[error.start : error.end])), error.end


codecs.register_error("spell", _spell)


def spell_out() -> None:
    """Make standard output and error accept any character, whatever their encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spell")


def encodable(text: str, encoding: str) -> str:
    """The text as it will be printed, to be measured before a table is laid out."""
    return text.encode(encoding, "spell").decode(encoding)


def write_utf8(text: str) -> None:
    """Write to standard output; to a file or a pipe as UTF-8, as TOML requires, whatever the locale."""
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)
