//! BLAS library of the user, opened at run time: OpenBLAS, BLIS, MKL or any other with the Fortran
//! names. This program needs none of it to be built or started.
//!
//! The library is set to one thread, and each of our own pinned threads calls it for its own strip
//! of the matrix. Its own threads are not used, for three reasons. They would inherit the pinning
//! of the thread that loads the library. They cannot take part in the panel, which is factored at
//! the same time. And every call would wait for all of them. A library built without any locking
//! must not be given to more than one thread.
//!
//! Matrices are passed row by row, which Fortran reads as transposed, so the products are requested
//! transposed too and nothing is copied. Integers are passed as 64-bit ones by address: on a
//! little-endian machine a library with 32-bit integers reads their lower half, which is the same
//! number.

use std::ffi::{CStr, c_char};
use std::fmt;

use crate::c_text::text_until_nul;
use crate::library::{self, SharedLibrary, SymbolScope};

/// Short names and the library files for each, in the order they are tried.
const SHORT_NAMES: &[(&str, &[&str])] = &[
    ("openblas", &["libopenblas.so.0", "libopenblas.so", "libopenblasp.so.0"]),
    ("blis", &["libblis.so.4", "libblis.so", "libblis-mt.so.4", "libblis-mt.so"]),
    ("mkl", &["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so", "libmkl_rt.so.1"]),
];

/// Suffixes of function names: without one, and with the one of libraries with 64-bit integers.
const SYMBOL_SUFFIXES: [&str; 2] = ["_", "_64_"];

/// Reason a library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BlasError {
    /// No file could be opened.
    #[error("cannot open a BLAS library: {}", format_attempts(tried))]
    Open {
        /// Each file that was tried, with the loader's reason.
        tried: Vec<(String, String)>,
    },
    /// The file is a library without the BLAS functions.
    #[error("{path} is not a BLAS library: it has no function {missing}")]
    Symbol {
        /// Path of the file.
        path: String,
        /// Name of the missing function.
        missing: &'static str,
    },
    /// The library computes a wrong result.
    #[error("{path} returns a wrong result from {function} for a system of two equations")]
    Result {
        /// Path of the file.
        path: String,
        /// Name of the function that failed.
        function: &'static str,
    },
}

fn format_attempts(tried: &[(String, String)]) -> String {
    let attempts: Vec<String> =
        tried.iter().map(|(file, reason)| format!("{file}: {reason}")).collect();
    attempts.join("; ")
}

/// Vendor of the library, recognised by its functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlasVendor {
    /// OpenBLAS.
    OpenBlas,
    /// BLIS, or AMD's library based on it.
    Blis,
    /// Intel's Math Kernel Library.
    Mkl,
    /// Any other library with the same functions.
    Unknown,
}

impl BlasVendor {
    /// Returns the name as it is stored and printed, never localised.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenBlas => "openblas",
            Self::Blis => "blis",
            Self::Mkl => "mkl",
            Self::Unknown => "unknown",
        }
    }
}

type Dgemm = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const i64,
    *const i64,
    *const i64,
    *const f64,
    *const f64,
    *const i64,
    *const f64,
    *const i64,
    *const f64,
    *mut f64,
    *const i64,
    // Lengths of the two strings: compiled Fortran expects them after all arguments.
    usize,
    usize,
);
type Dtrsm = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    *const c_char,
    *const i64,
    *const i64,
    *const f64,
    *const f64,
    *const i64,
    *mut f64,
    *const i64,
    usize,
    usize,
    usize,
    usize,
);
type Daxpy =
    unsafe extern "C" fn(*const i64, *const f64, *const f64, *const i64, *mut f64, *const i64);

/// Open BLAS library. It is never closed, because libraries start threads that would lose their
/// code.
pub struct Blas {
    path: String,
    vendor: BlasVendor,
    version: String,
    integer_bits: Option<u32>,
    dgemm: Dgemm,
    dtrsm: Dtrsm,
}

impl fmt::Debug for Blas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blas")
            .field("path", &self.path)
            .field("vendor", &self.vendor)
            .field("version", &self.version)
            .field("integer_bits", &self.integer_bits)
            .finish_non_exhaustive()
    }
}

impl Blas {
    /// Opens a library by a short name (`openblas`, `blis`, `mkl`), the name of a file that the
    /// loader finds, or a path. Sets it to one thread and checks it with a system of two equations.
    ///
    /// # Errors
    /// [`BlasError`]: no file could be opened (all attempts are listed), no BLAS, or a wrong result.
    pub fn open(name: &str) -> Result<Self, BlasError> {
        let (library, file) = open_first(name)?;
        let functions = SYMBOL_SUFFIXES.iter().find_map(|ending| {
            Some((
                library.function_address("dgemm", ending)?,
                library.function_address("dtrsm", ending)?,
                *ending,
            ))
        });
        let Some((dgemm, dtrsm, ending)) = functions else {
            let has_dgemm = SYMBOL_SUFFIXES
                .iter()
                .any(|ending| library.function_address("dgemm", ending).is_some());
            let missing = if has_dgemm { "dtrsm_" } else { "dgemm_" };
            return Err(BlasError::Symbol { path: file, missing });
        };
        let (vendor, version) = identify(&library);
        let blas = Self {
            path: library::containing_file(dgemm).unwrap_or(file),
            vendor,
            version,
            integer_bits: library.function_address("daxpy", ending).map(|daxpy| {
                // SAFETY: a function of this name has this signature in every BLAS.
                integer_bits(unsafe { std::mem::transmute::<*const (), Daxpy>(daxpy) })
            }),
            // SAFETY: functions of these names have these signatures in every BLAS.
            dgemm: unsafe { std::mem::transmute::<*const (), Dgemm>(dgemm) },
            // SAFETY: as above.
            dtrsm: unsafe { std::mem::transmute::<*const (), Dtrsm>(dtrsm) },
        };
        use_one_thread(&library);
        blas.check()?;
        Ok(blas)
    }

    /// Returns the path of the file that the functions come from.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the vendor.
    pub fn vendor(&self) -> BlasVendor {
        self.vendor
    }

    /// Returns the library's own text about its version and build; empty if it has none.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the width of the library's integers, 32 (LP64) or 64 (ILP64), as measured by calling
    /// it. `None` if the library lacks the function used for this test.
    pub fn integer_bits(&self) -> Option<u32> {
        self.integer_bits
    }

    /// Computes C ← C − L·U for row-by-row matrices: L is rows × depth, U is depth × columns, and
    /// all have the same distance between rows, in doubles. `sizes` are rows, columns and depth.
    ///
    /// # Safety
    /// The matrices must be valid. No other thread may use C or write L and U during the call.
    pub(super) unsafe fn subtract_product(
        &self,
        sizes: [usize; 3],
        lower: *const f64,
        upper: *const f64,
        c: *mut f64,
        stride: usize,
    ) {
        let [rows, columns, depth] = sizes.map(|size| size as i64);
        let (stride, plain, minus_one, one) = (stride as i64, c"N".as_ptr(), -1.0, 1.0);
        // SAFETY: vouched for by the caller; Cᵀ ← Cᵀ − Uᵀ·Lᵀ is the same in Fortran's order.
        unsafe {
            (self.dgemm)(
                plain, plain, &columns, &rows, &depth, &minus_one, upper, &stride, lower,
                &stride, &one, c, &stride, 1, 1,
            );
        }
    }

    /// Solves L·X = B in place for row-by-row matrices. L is the unit lower triangle of the given
    /// order, B has that many rows; both have the same distance between rows, in doubles.
    ///
    /// # Safety
    /// The matrices must be valid. No other thread may use B or write L during the call.
    pub(super) unsafe fn solve_unit_lower(
        &self,
        order: usize,
        columns: usize,
        lower: *const f64,
        b: *mut f64,
        stride: usize,
    ) {
        let (order, columns, stride, one) = (order as i64, columns as i64, stride as i64, 1.0);
        let [right, upper, plain, unit] = [c"R", c"U", c"N", c"U"].map(CStr::as_ptr);
        // SAFETY: vouched for by the caller; Xᵀ·Lᵀ = Bᵀ is the same in Fortran's order.
        unsafe {
            (self.dtrsm)(
                right, upper, plain, unit, &columns, &order, &one, lower, &stride, b, &stride,
                1, 1, 1, 1,
            );
        }
    }

    /// Checks both functions on numbers whose results are exact.
    fn check(&self) -> Result<(), BlasError> {
        let failed = |function| BlasError::Result { path: self.path.clone(), function };
        let (lower, upper) = ([1.0, 9.0, 2.0, 1.0], [3.0, 4.0, 5.0, 6.0]);
        let mut c = [0.0; 4];
        // SAFETY: three matrices of 2 × 2.
        unsafe {
            self.subtract_product([2, 2, 2], lower.as_ptr(), upper.as_ptr(), c.as_mut_ptr(), 2);
        }
        if c.map(f64::to_bits) != [-48.0, -58.0, -11.0, -14.0_f64].map(f64::to_bits) {
            return Err(failed("dgemm"));
        }
        let mut x = upper;
        // SAFETY: two matrices of 2 × 2.
        unsafe { self.solve_unit_lower(2, 2, lower.as_ptr(), x.as_mut_ptr(), 2) };
        if x.map(f64::to_bits) != [3.0, 4.0, -1.0, -2.0_f64].map(f64::to_bits) {
            return Err(failed("dtrsm"));
        }
        Ok(())
    }
}

/// Opens the first candidate file that can be opened.
fn open_first(name: &str) -> Result<(SharedLibrary, String), BlasError> {
    let mut tried = Vec::new();
    for file in candidates(name) {
        match SharedLibrary::open(&file, SymbolScope::Local) {
            Ok(library) => return Ok((library, file)),
            Err(reason) => tried.push((file, reason)),
        }
    }
    Err(BlasError::Open { tried })
}

/// Returns the candidate files for a name.
fn candidates(name: &str) -> Vec<String> {
    let short = SHORT_NAMES.iter().find(|(short, _)| short.eq_ignore_ascii_case(name));
    match short {
        Some((_, files)) => files.iter().map(|&file| file.to_owned()).collect(),
        None if name.contains('/') || name.contains(".so") => vec![name.to_owned()],
        None => vec![name.to_owned(), format!("lib{name}.so")],
    }
}

/// Identifies the vendor and version of a library.
fn identify(library: &SharedLibrary) -> (BlasVendor, String) {
    type Text = unsafe extern "C" fn() -> *const c_char;
    type Fill = unsafe extern "C" fn(*mut c_char, i64);
    let text = |name: &str, ending: &str| {
        let function = library.function_address(name, ending)?;
        // SAFETY: a function of this name takes nothing and returns a constant string.
        let text = unsafe { std::mem::transmute::<*const (), Text>(function)() };
        // SAFETY: as above; the pointer is checked for null.
        (!text.is_null())
            .then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    for ending in ["", "64_"] {
        if let Some(config) = text("openblas_get_config", ending) {
            return (BlasVendor::OpenBlas, config.trim().to_owned());
        }
    }
    if let Some(version) = text("bli_info_get_version_str", "") {
        return (BlasVendor::Blis, format!("BLIS {version}"));
    }
    if let Some(function) = library.function_address("MKL_Get_Version_String", "") {
        let mut buffer = [0_u8; 256];
        let room = buffer.len() as i64 - 1;
        // SAFETY: the function of this name fills a buffer of the given length.
        unsafe {
            std::mem::transmute::<*const (), Fill>(function)(buffer.as_mut_ptr().cast(), room);
        };
        return (BlasVendor::Mkl, text_until_nul(&buffer).trim().to_owned());
    }
    (BlasVendor::Unknown, String::new())
}

/// Sets the library to one thread, with the setter that it has.
fn use_one_thread(library: &SharedLibrary) {
    type Set = unsafe extern "C" fn(i64);
    let setters = [
        ("openblas_set_num_threads", ""),
        ("openblas_set_num_threads", "64_"),
        ("bli_thread_set_num_threads", ""),
        ("MKL_Set_Num_Threads", ""),
    ];
    for (name, ending) in setters {
        if let Some(function) = library.function_address(name, ending) {
            // SAFETY: functions of these names take one integer in a register, of 32 or 64 bits.
            unsafe { std::mem::transmute::<*const (), Set>(function)(1) };
        }
    }
}

/// Detects the width of the integers with a length whose lower half is 1 and which is negative as a
/// whole. A library with 32-bit integers adds one element, one with 64-bit integers none.
fn integer_bits(daxpy: Daxpy) -> u32 {
    let length = (-1_i64 << 32) | 1;
    let (one, step, mut y) = (1.0, 1_i64, 0.0);
    // SAFETY: at most one element is accessed, whether the length is read as 32 or 64 bits.
    unsafe { daxpy(&length, &one, &one, &step, &mut y, &step) };
    if y > 0.5 { 32 } else { 64 }
}

#[cfg(test)]
mod tests;
