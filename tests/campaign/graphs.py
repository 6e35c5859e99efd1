"""Graphs that were changed at random, by bytes, lines, words and values: `check` accepts each or refuses it at once, in
little memory, with a message that names the file."""
from tests.conftest import ROOT

from tests.campaign.damage import cut, flip_bits, overwrite
from tests.campaign.trial import MEBIBYTE, Case

FOLDERS = (ROOT / "config" / "examples", ROOT / "tests" / "data" / "config")
GRAPHS = [path for folder in FOLDERS for path in sorted(folder.glob("*.yaml"))]
GRAPHS_A_CASE = 10
MOST_MEMORY = 256 * MEBIBYTE
VALUES = ["", "~", "-1", "0", "1e400", ".nan", ".inf", "0x10", "010", "yes", "[]", "{}", "[[[[[[]]]]]]", "&a [*a]",
          "*nothing", "!!python/object:os.system x", "\"unclosed", "'", "99999999999999999999", "1e9", "a" * 5000,
          "../../../etc/passwd", "/dev/zero", "%n%s%n", "{frame", "{name}{name}", "\t", "# not a value", "- - -", "? :",
          "|", ">", "null", "\"\\u0000\"",
          "\"\\x1b[31m\"", "2147483648", "[1, 2", "{a: 1", "x: y: z"]


def bytes_of_lines(lines):
    return b"\n".join(lines)


def change(data, random):
    """One change of one of the kinds that people, editors and disks make."""
    lines = data.split(b"\n")
    one, two = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(9)
    if kind == 0:
        return flip_bits(data, random, random.choice([1, 2, 16])) if data else data
    if kind == 1:
        return cut(data, random.randrange(len(data) + 1))
    if kind == 2:
        return overwrite(data, random, random.choice([1, 4, 40])) if data else data
    if kind == 3:
        return bytes_of_lines(lines[:one] + lines[one + 1:])
    if kind == 4:
        return bytes_of_lines(lines[:one] + [lines[two]] + lines[one:])
    if kind == 5:
        lines[one], lines[two] = lines[two], lines[one]
        return bytes_of_lines(lines)
    if kind == 6:
        lines[one] = b" " * random.choice([1, 2, 3, 8, 300]) + lines[one]
        return bytes_of_lines(lines)
    if kind == 7:
        key, colon, _ = lines[one].partition(b":")
        lines[one] = key + colon + b" " + random.choice(VALUES).encode()
        return bytes_of_lines(lines)
    words = data.split(b" ")
    words[random.randrange(len(words))] = random.choice(VALUES).encode()
    return b" ".join(words)


def play(trial):
    for number in range(GRAPHS_A_CASE):
        data = trial.random.choice(GRAPHS).read_bytes()
        for _ in range(trial.random.choice([1, 1, 2, 5])):
            data = change(data, trial.random)
        name = f"graph{number}.yaml"
        (trial.folder / name).write_bytes(data)
        done = trial.run("check", name, codes={0, 64, 65, 66, 69, 73, 78}, most_memory=MOST_MEMORY, seconds=5)
        if done.code == 78 and f"{name}:" not in done.said:
            trial.fault(f"the message does not name {name}: {done.said[:200]}")
        if "\x1b" in done.said or "\x1b" in done.out:
            trial.fault(f"{name} set a colour")


def cases(options):
    for one in range((60 if options.quick else 4000) // GRAPHS_A_CASE):
        yield Case(f"{one:04}", play)
