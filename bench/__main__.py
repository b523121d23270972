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
from bench.growth import GROWTH_CASES, LARGE, USUAL_SIZES, Growth, growth_json, growth_table
from bench.growth import Plan as GrowthPlan
from bench.load import Generator, LoadFailed, find_generator
from bench.programs import ProgramFailed
from bench.records import Size
from bench.report import Circumstances, as_json, table
from bench.run import Plan, Run

USUAL_MESSAGES, QUICK_MESSAGES = 100_000, 5_000
USUAL_ROUNDS, QUICK_ROUNDS = 3, 1
USUAL_SECONDS, QUICK_SECONDS = 2, 1
USUAL_MIXED_S, QUICK_MIXED_S = 60, 10
MIXED = "mixed"


def main(arguments: Sequence[str]) -> int:
    asked = parser().parse_args(arguments)
    if asked.large and not asked.growth:
        parser().error("--large is for --growth")
    folder = Path(tempfile.mkdtemp(prefix="deskwire-bench-"))
    try:
        generator = find_generator(folder)
        print(measured(asked, folder, generator))
    except (LoadFailed, ProgramFailed) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def measured(asked: argparse.Namespace, folder: Path, generator: Generator) -> str:
    if asked.growth:
        plan = growth_plan_of(asked)
        sizes = "; ".join(map(str, plan.sizes))
        circumstances = Circumstances.found(generator.name, sizes, rounds(plan))
        outcome = Growth(plan, asked.keep or folder, generator, tell).measure()
        return growth_json(outcome, circumstances) if asked.json else growth_table(outcome, circumstances)
    usual = plan_of(asked)
    circumstances = Circumstances.found(generator.name, str(usual.size), rounds(usual))
    results = Run(usual, folder, generator, tell).measure()
    return as_json(results, circumstances) if asked.json else table(results, circumstances)


def rounds(plan: Plan | GrowthPlan) -> str:
    return f"{plan.rounds} of {plan.seconds} s each"


def parser() -> argparse.ArgumentParser:
    names = ", ".join([*(case.name for case in CASES), MIXED, *DELIVERIES])
    parser = argparse.ArgumentParser("./dev bench", description=__doc__, epilog=f"Cases: {names}.")
    parser.add_argument("--quick", action="store_true", help="fewer records, shorter rounds")
    parser.add_argument("--only", metavar="NAME", action="append", help="this case only; may be given again")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="this engine only")
    parser.add_argument(
        "--size", type=int, metavar="MESSAGES", help="contacts and channels are a fifth of it"
    )
    parser.add_argument(
        "--growth",
        action="store_true",
        help="instead, the same cases on 10 thousand and on 1 million messages; SQLite unless told otherwise",
    )
    parser.add_argument("--large", action="store_true", help="with --growth, on 5 million messages as well")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="with --growth, keep its databases there and use those that are there",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def plan_of(asked: argparse.Namespace) -> Plan:
    quick: bool = asked.quick
    has_mixed = asked.only is None or MIXED in asked.only
    return Plan(
        Size(asked.size or (QUICK_MESSAGES if quick else USUAL_MESSAGES)),
        asked.engine or ENGINES,
        chosen(CASES, asked.only),
        [name for name in DELIVERIES if asked.only is None or name in asked.only],
        QUICK if quick else USUAL,
        QUICK_ROUNDS if quick else USUAL_ROUNDS,
        QUICK_SECONDS if quick else USUAL_SECONDS,
        (QUICK_MIXED_S if quick else USUAL_MIXED_S) if has_mixed else 0,
    )


def growth_plan_of(asked: argparse.Namespace) -> GrowthPlan:
    quick: bool = asked.quick
    return GrowthPlan(
        [*USUAL_SIZES, *([LARGE] if asked.large else [])],
        asked.engine or ["sqlite"],
        chosen(GROWTH_CASES, asked.only),
        QUICK_ROUNDS if quick else USUAL_ROUNDS,
        QUICK_SECONDS if quick else USUAL_SECONDS,
    )


def chosen(cases: Sequence[Case], names: Sequence[str] | None) -> list[Case]:
    unknown = set(names or ()) - {case.name for case in cases} - {MIXED, *DELIVERIES}
    if unknown:
        parser().error(f"there is no case {', '.join(sorted(unknown))}")
    return [case for case in cases if names is None or case.name in names]


def tell(what: str) -> None:
    print(f"bench: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
