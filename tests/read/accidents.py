"""Small accidents that befall model files: lost, doubled and swapped words, and numbers that are none."""

import re

ACTIONS = ("delete", "duplicate", "swap", "replace", "number", "value", "attribute")
TOKEN = re.compile(r'<[^<>\s]*|[\w:]+="[^"]*"|/?>|[^<>\s]+|\s+')
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
VALUE = re.compile(r'"[^"]*"')
ATTRIBUTE = re.compile(r'[\w:]+="[^"]*"')
NASTY = ["nan", "-inf", "1e999", "1e308", "-1e308", "4.9e-324", "abc", "", "0", "-0", "-1", "1e9", "0 0"]
NASTY += ["1 2 3 4", "é", "&lt;", "&x;", "\ud800"]


def mutate(text: str, steps: list[tuple[str, int, int]]) -> str:
    """The text after some accidents: what happens, and two numbers that choose where and how."""
    tokens = TOKEN.findall(text)
    for action, first, second in steps:
        k, other = first % len(tokens), second % len(tokens)
        match action:
            case "delete":
                tokens[k] = ""
            case "duplicate":
                tokens[k] *= 2
            case "swap":
                tokens[k], tokens[other] = tokens[other], tokens[k]
            case "replace":
                tokens[k] = tokens[other]
            case "number":
                _spoil(tokens, NUMBER, first, NASTY[second % len(NASTY)])
            case "value":
                _spoil(tokens, VALUE, first, f'"{NASTY[second % len(NASTY)]}"')
            case "attribute":
                _spoil(tokens, ATTRIBUTE, first, "")
    return "".join(tokens)


def _spoil(tokens: list[str], wanted: re.Pattern[str], which: int, replacement: str) -> None:
    places = [k for k, token in enumerate(tokens) if wanted.search(token)]
    if places:
        k = places[which % len(places)]
        tokens[k] = wanted.sub(replacement, tokens[k], count=1)
