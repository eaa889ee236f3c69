//! RSA and SHA-256 by the OpenSSL of the machine, opened at run time. Building and starting this
//! program does not require it (`docs/decisions/0013-rsa-by-the-machines-openssl.md`).
//!
//! Uses only functions that both OpenSSL 1.1 and 3 have, some under two names.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use crate::library::{SharedLibrary, SymbolScope};

/// Library files, tried in this order.
const LIBRARY_FILES: [&str; 2] = ["libcrypto.so.3", "libcrypto.so.1.1"];

/// `EVP_PKEY_RSA` of `openssl/evp.h`: neither an elliptic curve nor a key for signatures alone.
const RSA: c_int = 6;
/// `EVP_PKEY_CTRL_RSA_PADDING` of `openssl/rsa.h`.
const SET_PADDING: c_int = 0x1001;
/// Accepted key sizes: smaller keys are not safe, and with larger ones a peer could make a server
/// compute for long.
const BITS: std::ops::RangeInclusive<c_int> = 2048..=8192;

/// Padding of a text before encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RsaPadding {
    /// OAEP with SHA-1.
    Oaep,
    /// PKCS #1 v1.5.
    Pkcs1,
}

impl RsaPadding {
    /// `RSA_PKCS1_OAEP_PADDING` and `RSA_PKCS1_PADDING` of `openssl/rsa.h`.
    const fn number(self) -> c_int {
        match self {
            Self::Oaep => 4,
            Self::Pkcs1 => 1,
        }
    }
}

/// Half of a key pair that a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyHalf {
    /// Public half, which encrypts.
    Public,
    /// Private half, which decrypts.
    Private,
}

/// Reason for which no key is available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenSslError {
    /// OpenSSL is missing or not usable.
    #[error("no usable OpenSSL on this machine: {0}")]
    NoLibrary(String),
    /// Not PEM, encrypted with a passphrase, or the other half.
    #[error("no such key in PEM format without a passphrase")]
    NoKey,
    /// Not RSA, or too small or large.
    #[error("not an RSA key of {} to {} bits", BITS.start(), BITS.end())]
    Rejected,
}

type Bio = c_void;
type Pkey = c_void;
type Context = c_void;
type Passphrase = extern "C" fn(*mut c_char, c_int, c_int, *mut c_void) -> c_int;

/// Declares the functions that are used, as in OpenSSL's manual pages. Each is looked up by the
/// first of its names that the library has.
macro_rules! functions {
    ($($field:ident: $type:ty = $($name:literal)|+;)+) => {
        struct OpenSsl {
            $($field: $type,)+
        }

        impl OpenSsl {
            fn load(library: &SharedLibrary) -> Result<Self, &'static str> {
                // SAFETY: under either name the function has had this type since OpenSSL 1.1.
                Ok(Self { $($field: unsafe { library.load_function(&[$($name),+]) }?,)+ })
            }
        }
    };
}

functions! {
    bio_of: unsafe extern "C" fn(*const c_void, c_int) -> *mut Bio = "BIO_new_mem_buf";
    free_bio: unsafe extern "C" fn(*mut Bio) -> c_int = "BIO_free";
    read_public: ReadPem = "PEM_read_bio_PUBKEY";
    read_private: ReadPem = "PEM_read_bio_PrivateKey";
    free_key: unsafe extern "C" fn(*mut Pkey) = "EVP_PKEY_free";
    kind: KeyProperty = "EVP_PKEY_get_base_id" | "EVP_PKEY_base_id";
    bits: KeyProperty = "EVP_PKEY_get_bits" | "EVP_PKEY_bits";
    context_of: unsafe extern "C" fn(*mut Pkey, *mut c_void) -> *mut Context = "EVP_PKEY_CTX_new";
    free_context: unsafe extern "C" fn(*mut Context) = "EVP_PKEY_CTX_free";
    control: Control = "EVP_PKEY_CTX_ctrl";
    begin_encrypting: InitOperation = "EVP_PKEY_encrypt_init";
    encrypt: Convert = "EVP_PKEY_encrypt";
    begin_decrypting: InitOperation = "EVP_PKEY_decrypt_init";
    decrypt: Convert = "EVP_PKEY_decrypt";
    digest: Digest = "EVP_Digest";
    sha256: unsafe extern "C" fn() -> *const c_void = "EVP_sha256";
    clear_errors: unsafe extern "C" fn() = "ERR_clear_error";
}

type ReadPem = unsafe extern "C" fn(
    *mut Bio,
    *mut *mut Pkey,
    Option<Passphrase>,
    *mut c_void,
) -> *mut Pkey;
type KeyProperty = unsafe extern "C" fn(*const Pkey) -> c_int;
type Control =
    unsafe extern "C" fn(*mut Context, c_int, c_int, c_int, c_int, *mut c_void) -> c_int;
type InitOperation = unsafe extern "C" fn(*mut Context) -> c_int;
type Convert =
    unsafe extern "C" fn(*mut Context, *mut u8, *mut usize, *const u8, usize) -> c_int;
type Digest = unsafe extern "C" fn(
    *const c_void,
    usize,
    *mut u8,
    *mut c_uint,
    *const c_void,
    *mut c_void,
) -> c_int;

impl OpenSsl {
    /// Returns the process's OpenSSL, loaded at the first call.
    fn loaded() -> Result<&'static Self, OpenSslError> {
        static OPENED: OnceLock<Result<OpenSsl, String>> = OnceLock::new();
        let opened = OPENED.get_or_init(|| {
            let mut reasons = Vec::new();
            for file in LIBRARY_FILES {
                let opened = SharedLibrary::open(file, SymbolScope::Local)
                    .map_err(|reason| format!("{file}: {reason}"));
                let found = opened.and_then(|library| {
                    Self::load(&library).map_err(|lacks| format!("{file} lacks {lacks}"))
                });
                match found {
                    Ok(found) => return Ok(found),
                    Err(reason) => reasons.push(reason),
                }
            }
            Err(reasons.join("; "))
        });
        opened.as_ref().map_err(|reason| OpenSslError::NoLibrary(reason.clone()))
    }
}

/// Refuses every key with a passphrase; otherwise OpenSSL asks on the terminal.
extern "C" fn no_passphrase(_: *mut c_char, _: c_int, _: c_int, _: *mut c_void) -> c_int {
    -1
}

/// Public or private half of an RSA key pair.
pub struct RsaKey {
    library: &'static OpenSsl,
    key: NonNull<Pkey>,
    half: KeyHalf,
}

// SAFETY: a key is never changed after it was read, and OpenSSL counts its owners atomically; each
// use has a context of its own.
unsafe impl Send for RsaKey {}
// SAFETY: as above.
unsafe impl Sync for RsaKey {}

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RsaKey").field("half", &self.half).finish_non_exhaustive()
    }
}

impl Drop for RsaKey {
    fn drop(&mut self) {
        // SAFETY: this is the only owner.
        unsafe { (self.library.free_key)(self.key.as_ptr()) };
    }
}

impl RsaKey {
    /// Reads the first key of this half from a file's text (PEM, RFC 7468).
    ///
    /// # Errors
    /// When the text holds none, it is not an RSA key of a usable size, or OpenSSL is not
    /// available.
    pub fn from_pem(pem: &[u8], half: KeyHalf) -> Result<Self, OpenSslError> {
        let library = OpenSsl::loaded()?;
        let length = c_int::try_from(pem.len()).map_err(|_| OpenSslError::NoKey)?;
        // SAFETY: `pem` outlives the reader, which only reads it.
        let bio = unsafe { (library.bio_of)(pem.as_ptr().cast(), length) };
        if bio.is_null() {
            return Err(OpenSslError::NoKey);
        }
        let read = match half {
            KeyHalf::Public => library.read_public,
            KeyHalf::Private => library.read_private,
        };
        // SAFETY: a valid reader; nothing is passed to be filled.
        let key = unsafe { read(bio, ptr::null_mut(), Some(no_passphrase), ptr::null_mut()) };
        // SAFETY: valid, and not used again. The error queue belongs to this thread.
        unsafe {
            (library.free_bio)(bio);
            (library.clear_errors)();
        }
        let key = NonNull::new(key).ok_or(OpenSslError::NoKey)?;
        let key = Self { library, key, half };
        // SAFETY: a valid key.
        let (kind, bits) =
            unsafe { ((library.kind)(key.key.as_ptr()), (library.bits)(key.key.as_ptr())) };
        (kind == RSA && BITS.contains(&bits)).then_some(key).ok_or(OpenSslError::Rejected)
    }

    /// Encrypts a text with a public key, or decrypts it with a private one. Returns `None` if the
    /// text is too long, or was not encrypted for this key and padding.
    pub fn convert(&self, text: &[u8], padding: RsaPadding) -> Option<Vec<u8>> {
        let library = self.library;
        // SAFETY: a valid key, of which the context becomes another owner.
        let context = unsafe { (library.context_of)(self.key.as_ptr(), ptr::null_mut()) };
        let context = NonNull::new(context)?;
        let converted = self.convert_with_context(context.as_ptr(), text, padding);
        // SAFETY: valid, and not used again. The error queue belongs to this thread.
        unsafe {
            (library.free_context)(context.as_ptr());
            (library.clear_errors)();
        }
        converted
    }

    fn convert_with_context(
        &self,
        context: *mut Context,
        text: &[u8],
        padding: RsaPadding,
    ) -> Option<Vec<u8>> {
        let library = self.library;
        let (begin, convert) = match self.half {
            KeyHalf::Public => (library.begin_encrypting, library.encrypt),
            KeyHalf::Private => (library.begin_decrypting, library.decrypt),
        };
        let padding = padding.number();
        // SAFETY: a valid context; the padding is passed by value.
        let ready = unsafe {
            begin(context) == 1
                && (library.control)(context, -1, -1, SET_PADDING, padding, ptr::null_mut())
                    == 1
        };
        let mut length = 0;
        // SAFETY: without an output buffer only the length is written.
        let sized = ready
            && unsafe {
                convert(context, ptr::null_mut(), &raw mut length, text.as_ptr(), text.len())
                    == 1
            };
        if !sized {
            return None;
        }
        let mut room = vec![0; length];
        // SAFETY: `room` has the requested length, which `length` passes on.
        let done = unsafe {
            convert(context, room.as_mut_ptr(), &raw mut length, text.as_ptr(), text.len()) == 1
        };
        room.truncate(length);
        done.then_some(room)
    }
}

/// Returns the SHA-256 of a text.
///
/// # Errors
/// When OpenSSL is not available, or refuses (a policy of the machine).
pub fn sha256(text: &[u8]) -> Result<[u8; 32], OpenSslError> {
    let library = OpenSsl::loaded()?;
    let mut hash = [0; 32];
    // SAFETY: the kind is OpenSSL's own and `hash` has its 32 bytes.
    let done = unsafe {
        let kind = (library.sha256)();
        let (from, length) = (text.as_ptr().cast(), text.len());
        (library.digest)(
            from,
            length,
            hash.as_mut_ptr(),
            ptr::null_mut(),
            kind,
            ptr::null_mut(),
        )
    };
    let refused = || OpenSslError::NoLibrary("it does not compute SHA-256".to_owned());
    (done == 1).then_some(hash).ok_or_else(refused)
}
