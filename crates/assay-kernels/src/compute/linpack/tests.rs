//! LINPACK solver as a whole: every order, instruction set, team size and library, and detection of
//! damage.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::pin;

fn cpus(members: usize) -> Vec<SolverCpu> {
    cpus_with_caches(members, members)
}

/// Returns CPUs of which each `per_cache` share a last-level cache.
fn cpus_with_caches(members: usize, per_cache: usize) -> Vec<SolverCpu> {
    let numbers = pin::allowed_cpus().unwrap().into_iter().cycle().take(members);
    let cpu = |(member, number)| SolverCpu { number, last_level_cache: member / per_cache };
    numbers.enumerate().map(cpu).collect()
}

fn linpack(n: usize, members: usize, isa: Isa) -> Linpack<'static> {
    let config = LinpackConfig { n, cpus: cpus(members), seed: n as u64, blas: None };
    Linpack::with_isa(&config, isa).unwrap()
}

fn solve(linpack: &mut Linpack) -> Result<LinpackSolution, LinpackError> {
    linpack.solve(&AtomicBool::new(false), &|_| ())
}

/// Writes a given system and solves it.
fn solve_system(
    linpack: &mut Linpack,
    entry: impl Fn(usize, usize) -> f64,
    right_side: impl Fn(usize) -> f64,
) -> Result<Vec<f64>, LinpackError> {
    let (shape, grid) = (linpack.shape, linpack.matrix.shared_view());
    for row in 0..shape.padded {
        // SAFETY: inside the matrix, and no thread is working.
        let at = |column| unsafe { &mut *grid.element(row, column) };
        for column in 0..shape.stride {
            *at(column) = match (row < shape.order, column) {
                (true, column) if column < shape.order => entry(row, column),
                (true, column) if column == shape.padded => right_side(row),
                (false, column) if column == row => 1.0,
                _ => 0.0,
            };
        }
    }
    linpack.factor_and_solve(&AtomicBool::new(false), &|_| ())?;
    Ok(linpack.solution().to_vec())
}

fn check_residual(n: usize, members: usize, isa: Isa) {
    let solved = solve(&mut linpack(n, members, isa)).unwrap();
    assert!(solved.passed && solved.residual < 1.0, "{n} {members} {isa}: {solved:?}");
    assert!((solved.flops - flops(n)).abs() < 0.5 && solved.seconds > 0.0, "{solved:?}");
}

#[test]
fn solves_small_orders_with_every_instruction_set() {
    for isa in Isa::available() {
        for n in 1..=130 {
            check_residual(n, 1 + n % 2, isa);
        }
    }
}

#[test]
fn solves_orders_around_panel_widths_with_every_team_size() {
    for n in [239, 240, 241, 247, 263, 264, 265, 479, 480, 721] {
        for members in [1, 2] {
            check_residual(n, members, Isa::best());
        }
    }
    for (n, members) in [(264, 5), (500, 4)] {
        check_residual(n, members, Isa::best());
    }
}

/// The order of the operations of each element depends on the panels alone.
#[test]
fn solution_does_not_depend_on_threads_and_caches() {
    for n in [5, 239, 241, 263, 500, 721, 1501] {
        let solve_with = |members, per_cache| {
            let cpus = cpus_with_caches(members, per_cache);
            let config = LinpackConfig { n, cpus, seed: 3, blas: None };
            let mut linpack = Linpack::prepare(&config).unwrap();
            let solved = solve(&mut linpack).unwrap();
            assert!(solved.residual < 1.0, "{n} {members} {per_cache}: {solved:?}");
            linpack.solution().to_vec()
        };
        let expected = solve_with(1, 1);
        for members in [2, 3, 4, 8] {
            for per_cache in [1, 2, 4] {
                let found = solve_with(members, per_cache);
                assert!(found == expected, "N {n}, {members} threads, {per_cache} per cache");
            }
        }
    }
}

/// Solves a permuted triangular matrix of small whole numbers. It needs pivoting in every column
/// and has a solution of whole numbers, which comes out exactly or nearly so.
#[test]
fn finds_known_solution() {
    for n in [1, 2, 5, 8, 64, 100, 300] {
        let mut linpack = linpack(n, 2, Isa::best());
        let expected = |column: usize| (column % 7) as f64 - 3.0;
        let entry = |row: usize, column: usize| {
            let row = n - 1 - row;
            if column == row { 4.0 } else { f64::from(u8::from(column > row)) }
        };
        let right_side =
            |row| (0..n).map(|column| entry(row, column) * expected(column)).sum::<f64>();
        let x = solve_system(&mut linpack, entry, right_side).unwrap();
        for (column, x) in x.into_iter().enumerate() {
            assert!((x - expected(column)).abs() < 1e-9, "N {n}, unknown {column}: {x}");
        }
    }
}

#[test]
fn repeats_are_identical_and_seeds_differ() {
    let mut linpack = linpack(100, 2, Isa::best());
    let mut solution = |seed| {
        linpack.seed = seed;
        solve(&mut linpack).unwrap();
        linpack.solution().to_vec()
    };
    let (first, other, again) = (solution(1), solution(2), solution(1));
    assert_eq!(first, again);
    assert_ne!(first, other);
}

/// Repeats the back substitution and checks the result.
fn substitute_again(linpack: &mut Linpack) -> LinpackSolution {
    let (grid, x, crews) =
        (linpack.matrix.shared_view(), linpack.unknowns(), WorkerBarriers::new(1));
    let everyone = crews.whole_team(0);
    let cancel = AtomicBool::new(false);
    let halt = EarlyExit::new(&cancel);
    // SAFETY: one member, and no thread is working.
    unsafe {
        solve::back_substitute((grid, x), &linpack.steps, linpack.kernels, everyone, &halt);
    }
    let problem = LinpackProblem::new(linpack.shape.order, linpack.seed);
    linpack.check_solution(problem, 1.0, &AtomicBool::new(false))
}

/// Damages one element of U by a thousandth, which must fail the verdict at any position.
#[test]
fn damaged_factorisation_fails_the_residual() {
    for (n, row, column) in [(10, 5, 5), (300, 20, 280), (300, 250, 299), (500, 499, 499)] {
        let mut linpack = linpack(n, 2, Isa::best());
        let first = solve(&mut linpack).unwrap();
        let again = substitute_again(&mut linpack);
        assert!(first.passed && again.passed, "{first:?} {again:?}");
        // SAFETY: inside the matrix, and no thread is working.
        unsafe { *linpack.matrix.shared_view().element(row, column) *= 1.001 };
        let damaged = substitute_again(&mut linpack);
        assert!(!damaged.passed && damaged.residual > THRESHOLD, "{damaged:?}");
    }
}

#[test]
fn singular_matrix_error_names_the_column() {
    for (n, zero_from) in [(1, 0), (10, 0), (10, 9), (300, 17), (500, 250), (500, 499)] {
        let mut linpack = linpack(n, 2, Isa::best());
        // Columns from `zero_from` on repeat the one before it, or are zero if there is none.
        let entry = |row: usize, column: usize| {
            if column >= zero_from { 0.0 } else { f64::from(u8::from(row == column)) }
        };
        let error = solve_system(&mut linpack, entry, |_| 1.0).unwrap_err();
        assert!(
            matches!(error, LinpackError::Singular { column } if column == zero_from),
            "{n}: {error}"
        );
        assert!(solve(&mut linpack).unwrap().passed, "the next solution is not affected");
    }
}

#[test]
fn non_finite_matrix_does_not_hang() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut linpack = linpack(50, 2, Isa::best());
        let entry = |row: usize, column: usize| {
            if (row, column) == (30, 3) { bad } else { f64::from(u8::from(row == column)) }
        };
        // Infinity is found at once, NaN at the latest by the verdict.
        match solve_system(&mut linpack, entry, |_| 1.0) {
            Ok(x) => assert!(x.iter().any(|x| x.is_nan())),
            Err(error) => assert!(matches!(error, LinpackError::Singular { .. }), "{error}"),
        }
    }
}

#[test]
fn cancelled_solution_can_be_repeated() {
    let mut linpack = linpack(1500, 2, Isa::best());
    let (cancel, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let progress = |_| {
        cancel.store(true, Ordering::Relaxed);
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let cancelled = linpack.solve(&cancel, &progress);
    assert!(matches!(cancelled, Err(LinpackError::Cancelled)), "{cancelled:?}");
    // The flag is set after the first step was checked, so the second step is the last.
    assert_eq!(calls.into_inner(), 2);
    assert!(solve(&mut linpack).unwrap().passed);
}

#[test]
fn progress_rises_to_one() {
    let seen = Mutex::new(Vec::new());
    let mut linpack = linpack(1000, 2, Isa::best());
    linpack.solve(&AtomicBool::new(false), &|part| seen.lock().unwrap().push(part)).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.is_sorted() && seen.len() == linpack.steps.len(), "{seen:?}");
    assert!((seen[seen.len() - 1] - 1.0).abs() < 1e-12, "{seen:?}");
}

#[test]
fn blas_library_gives_the_same_solution() {
    let blas = match Blas::open("openblas") {
        Ok(blas) => blas,
        Err(error) => {
            eprintln!("SKIPPED blas_library_gives_the_same_solution: {error}");
            return;
        }
    };
    for (n, members) in [(1, 1), (7, 2), (64, 5), (241, 3), (500, 2), (1000, 2), (2300, 3)] {
        let config =
            LinpackConfig { n, cpus: cpus(members), seed: n as u64, blas: Some(&blas) };
        let mut with_library = Linpack::prepare(&config).unwrap();
        let solved = solve(&mut with_library).unwrap();
        assert!(solved.passed && solved.residual < 1.0, "{n} {members}: {solved:?}");
        let mut built_in = linpack(n, members, Isa::best());
        solve(&mut built_in).unwrap();
        for (a, b) in with_library.solution().iter().zip(built_in.solution()) {
            assert!((a - b).abs() <= 1e-6 * b.abs().max(1.0), "{n}: {a} {b}");
        }
    }
}

#[test]
fn rejects_impossible_orders() {
    let prepare = |n, cpus| Linpack::prepare(&LinpackConfig { n, cpus, seed: 0, blas: None });
    assert!(matches!(prepare(0, cpus(1)), Err(LinpackError::NoEquations)));
    assert!(matches!(prepare(usize::MAX, cpus(1)), Err(LinpackError::TooLarge { .. })));
    assert!(matches!(
        prepare(10, vec![SolverCpu { number: usize::MAX, last_level_cache: 0 }]),
        Err(LinpackError::Team(_))
    ));
    assert!(matches!(prepare(10, vec![]), Err(LinpackError::Team(_))));
    let n = 50_000_000;
    let error = prepare(n, cpus(1)).unwrap_err();
    let bytes = memory_bytes(n, 1).unwrap();
    assert!(matches!(error, LinpackError::Allocate { .. }), "{error}");
    assert!(error.to_string().contains(&bytes.to_string()), "{error}");
}

#[test]
fn memory_exceeds_the_matrix_by_at_most_five_per_cent() {
    for (n, threads) in [(4000, 2), (8000, 2), (16_000, 2), (16_000, 64), (100_000, 128)] {
        let matrix = 8 * n * n;
        let bytes = memory_bytes(n, threads).unwrap();
        assert!(bytes >= matrix && bytes <= matrix / 100 * 105, "{n} {threads}: {bytes}");
    }
}

#[test]
fn counts_operations_as_hpl() {
    for (n, expected) in
        [(1, 2.0 / 3.0 + 1.5), (100, 681_666.666_667), (3000, 18_013_500_000.0)]
    {
        assert!((flops(n) / expected - 1.0).abs() < 1e-9, "{n}: {}", flops(n));
    }
}

#[test]
fn panel_widths_add_up_to_the_order() {
    for padded in [8, 16, 240, 248, 4000, 16_000] {
        let widths = panel_widths(padded);
        assert_eq!(widths.iter().sum::<usize>(), padded);
        let (last, others) = widths.split_last().unwrap();
        assert!(
            last % matrix::SLIVER == 0
                && others.iter().all(|width| width % strip::UNIT_COLUMNS == 0)
        );
    }
}
