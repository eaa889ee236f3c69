//! Loads shared libraries and looks up their functions. Never closes an opened library.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::mem::{self, MaybeUninit};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr::NonNull;

use assay_model::path_text;

/// Visibility of a library's symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SymbolScope {
    /// Only through the library's handle.
    Local,
    /// Also for libraries opened later: plug-ins that do not name the library they depend on.
    Global,
}

/// Shared library opened in this process.
#[derive(Debug)]
pub(crate) struct SharedLibrary {
    handle: NonNull<c_void>,
}

impl SharedLibrary {
    /// Opens a file by path (in the form of `path_text`), or by a name that the loader searches
    /// for. The error is the loader's reason, without the name.
    pub(crate) fn open(file: &str, scope: SymbolScope) -> Result<Self, String> {
        if file.is_empty() {
            // The loader would take this for the program itself.
            return Err("the name is empty".to_owned());
        }
        let name = CString::new(path_text::decode_bytes(file))
            .map_err(|_| "the name contains a NUL byte".to_owned())?;
        let visibility = match scope {
            SymbolScope::Local => libc::RTLD_LOCAL,
            SymbolScope::Global => libc::RTLD_GLOBAL,
        };
        // SAFETY: a valid string. The library's initialisers run here: opening a library implies
        // that, and the user named it.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | visibility) };
        NonNull::new(handle)
            .map(|handle| Self { handle })
            .ok_or_else(|| strip_file_name(&last_error(), &name))
    }

    /// Returns the address of the object or function `name` in the library or its dependencies.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<*const ()> {
        // SAFETY: the handle is open and the string valid.
        let address = unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) };
        (!address.is_null()).then_some(address.cast_const().cast())
    }

    /// Returns the function with the first of these names that the library has; if it has none, the
    /// first name as the error.
    ///
    /// # Safety
    /// `F` must be a pointer to a function, and the type that the library's interface gives these
    /// names.
    pub(crate) unsafe fn load_function<F: Copy>(
        &self,
        names: &[&'static str],
    ) -> Result<F, &'static str> {
        const { assert!(size_of::<F>() == size_of::<*const ()>()) };
        let found = names.iter().find_map(|name| self.function_address(name, ""));
        let address = found.ok_or(names[0])?;
        // SAFETY: of the same size, and the caller guarantees the type.
        Ok(unsafe { mem::transmute_copy(&address) })
    }

    /// Returns the address of the function `name` + `ending`, if the library has it.
    pub(crate) fn function_address(&self, name: &str, ending: &str) -> Option<*const ()> {
        self.symbol(&CString::new(format!("{name}{ending}")).ok()?)
    }
}

/// Returns the file that a function or object was loaded from.
pub(crate) fn containing_file(function: *const ()) -> Option<String> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `info` can be written; `dladdr` accepts any address.
    let found = unsafe { libc::dladdr(function.cast(), info.as_mut_ptr()) } != 0;
    // SAFETY: zero bytes are a valid value of this plain structure.
    let name = unsafe { info.assume_init() }.dli_fname;
    // SAFETY: where found and not null, it is the loader's own string, which lives with the library.
    (found && !name.is_null()).then(|| path_text_of(unsafe { CStr::from_ptr(name) }))
}

/// Removes from a loader's message the file's own name and the phrase that it could not be opened,
/// which the caller adds. The name of a missing dependency stays.
fn strip_file_name(said: &str, name: &CStr) -> String {
    let own = path_text_of(name) + ": ";
    let said = said.strip_prefix(&own).unwrap_or(said);
    said.strip_prefix("cannot open shared object file: ").unwrap_or(said).to_owned()
}

/// Returns the loader's message about the last failure in this thread.
fn last_error() -> String {
    // SAFETY: takes nothing; the string is the loader's and copied before the next call.
    let reason = unsafe { libc::dlerror() };
    if reason.is_null() {
        return "the loader gives no reason".to_owned();
    }
    // SAFETY: not null, and a valid string until the next call.
    path_text_of(unsafe { CStr::from_ptr(reason) })
}

/// Converts a path to the program's text form, in which names need not be UTF-8.
fn path_text_of(path: &CStr) -> String {
    path_text::encode(OsStr::from_bytes(path.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_omits_the_file_name() {
        for file in ["/no/such/file.so", "no-such-file.so", "/no/such\u{efff}"] {
            let reason = SharedLibrary::open(file, SymbolScope::Local).unwrap_err();
            assert_eq!(reason, "No such file or directory", "{file}");
        }
        let said = "libother.so.1: cannot open shared object file: No such file or directory";
        assert_eq!(strip_file_name(said, c"libown.so"), said, "what the file needs has a name");
    }
}
