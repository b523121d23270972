"""`./dev bench`: measures everything side by side in one run and prints each figure beside the design's."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.cases import CASES, Case
from bench.databases import ENGINES
from bench.deliveries import NAMES as DELIVERIES
from bench.deliveries import QUICK, USUAL
from bench.load import LoadFailed, find_generator
from bench.programs import ProgramFailed
from bench.records import Size
from bench.report import Circumstances, as_json, table
from bench.run import Plan, Run

USUAL_MESSAGES, QUICK_MESSAGES = 100_000, 5_000
USUAL_ROUNDS, QUICK_ROUNDS = 3, 2
USUAL_SECONDS, QUICK_SECONDS = 3, 1


def main(arguments: Sequence[str]) -> int:
    asked = parser().parse_args(arguments)
    plan = plan_of(asked)
    folder = Path(tempfile.mkdtemp(prefix="deskwire-bench-"))
    try:
        generator = find_generator(folder)
        circumstances = Circumstances.found(
            generator.name,
            str(plan.size),
            f"{plan.rounds} of {plan.seconds} s each",
        )
        results = Run(plan, folder, generator, tell).measure()
    except (LoadFailed, ProgramFailed) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(as_json(results, circumstances) if asked.json else table(results, circumstances))
    return 0


def parser() -> argparse.ArgumentParser:
    names = ", ".join([*(case.name for case in CASES), *DELIVERIES])
    parser = argparse.ArgumentParser("./dev bench", description=__doc__, epilog=f"Cases: {names}.")
    parser.add_argument("--quick", action="store_true", help="fewer records, shorter rounds")
    parser.add_argument("--only", metavar="NAME", action="append", help="this case only; may be given again")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="this engine only")
    parser.add_argument(
        "--size", type=int, metavar="MESSAGES", help="contacts and channels are a fifth of it"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def plan_of(asked: argparse.Namespace) -> Plan:
    quick: bool = asked.quick
    return Plan(
        Size(asked.size or (QUICK_MESSAGES if quick else USUAL_MESSAGES)),
        asked.engine or ENGINES,
        chosen(asked.only),
        [name for name in DELIVERIES if asked.only is None or name in asked.only],
        QUICK if quick else USUAL,
        QUICK_ROUNDS if quick else USUAL_ROUNDS,
        QUICK_SECONDS if quick else USUAL_SECONDS,
    )


def chosen(names: Sequence[str] | None) -> list[Case]:
    unknown = set(names or ()) - {case.name for case in CASES} - set(DELIVERIES)
    if unknown:
        parser().error(f"there is no case {', '.join(sorted(unknown))}")
    return [case for case in CASES if names is None or case.name in names]


def tell(what: str) -> None:
    print(f"bench: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
