//! Opening BLAS libraries, and rejection of other files.

use super::*;

/// Library that every Linux system with this program has, and that is no BLAS.
const NO_BLAS: &str = "libc.so.6";

#[test]
fn short_names_expand_to_library_files() {
    for (name, expected) in [
        ("openblas", vec!["libopenblas.so.0", "libopenblas.so", "libopenblasp.so.0"]),
        ("MKL", vec!["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so", "libmkl_rt.so.1"]),
        ("./my.so", vec!["./my.so"]),
        ("libfoo.so.3", vec!["libfoo.so.3"]),
        ("/opt/x", vec!["/opt/x"]),
        ("foo", vec!["foo", "libfoo.so"]),
    ] {
        assert_eq!(candidates(name), expected);
    }
}

#[test]
fn missing_library_error_lists_all_candidates() {
    for name in ["no-such-blas", "/no/such/file.so", "", "zero\0byte"] {
        let error = Blas::open(name).unwrap_err();
        assert!(matches!(error, BlasError::Open { .. }), "{error}");
        for file in candidates(name) {
            assert!(error.to_string().contains(&file), "{error}");
        }
    }
}

#[test]
fn rejects_library_without_blas_functions() {
    let error = Blas::open(NO_BLAS).unwrap_err();
    assert!(matches!(&error, BlasError::Symbol { missing: "dgemm_", .. }), "{error}");
    assert!(error.to_string().contains(NO_BLAS));
}

#[test]
fn openblas_is_recognised() {
    let blas = match Blas::open("openblas") {
        Ok(blas) => blas,
        Err(error) => {
            eprintln!("SKIPPED openblas_is_recognised: {error}");
            return;
        }
    };
    assert_eq!(blas.vendor(), BlasVendor::OpenBlas);
    assert!(blas.version().contains("OpenBLAS"), "{blas:?}");
    assert!(blas.path().contains("openblas") && blas.path().starts_with('/'), "{blas:?}");
    assert!(matches!(blas.integer_bits(), Some(32 | 64)), "{blas:?}");
}

/// Simulates `daxpy` of libraries with 32-bit and with 64-bit integers.
#[test]
fn detects_integer_width() {
    unsafe extern "C" fn narrow(
        length: *const i64,
        _: *const f64,
        x: *const f64,
        _: *const i64,
        y: *mut f64,
        _: *const i64,
    ) {
        // SAFETY: called with addresses of single values.
        unsafe {
            if *length.cast::<i32>() == 1 {
                *y += *x;
            }
        }
    }
    unsafe extern "C" fn wide(
        length: *const i64,
        _: *const f64,
        x: *const f64,
        _: *const i64,
        y: *mut f64,
        _: *const i64,
    ) {
        // SAFETY: called with addresses of single values.
        unsafe {
            if *length > 0 {
                *y += *x;
            }
        }
    }
    assert_eq!((integer_bits(narrow), integer_bits(wide)), (32, 64));
}
