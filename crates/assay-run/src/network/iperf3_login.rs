//! iperf3's authentication: the client encrypts user, password and time with the RSA key of the
//! server, which has the hashes of its users' passwords. Passwords are neither stored nor printed.
//!
//! The cryptography is that of the machine's OpenSSL. A rejected client learns neither the reason
//! nor the existing users; the reason is in the server's own output.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use assay_dialects::wire::iperf3::login::{self, Login};
use assay_kernels::openssl::{self, KeyHalf, OpenSslError, RsaKey, RsaPadding};
use assay_model::poisoned_lock::PoisonedLock as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fs_err as fs;
use thiserror::Error;

/// Error of the keys or credentials.
#[derive(Debug, Error)]
pub enum LoginError {
    #[error("cannot read the {what}")]
    Read { what: &'static str, source: io::Error },
    #[error("the {what} in {} cannot be used", path.display())]
    Key { path: PathBuf, what: &'static str, source: OpenSslError },
    #[error("cannot check passwords")]
    NoHash { source: OpenSslError },
    #[error("user and password together are too long for this key")]
    TooLong,
    #[error("the {what} must have 1 to {} bytes without white space", login::MAX_WORD_BYTES)]
    NoWord { what: &'static str },
}

/// Reason why a server rejects a client.
#[derive(Debug, Error)]
pub enum LoginRefusal {
    #[error("the client sent no user and password")]
    NoLogin,
    #[error("the login is not encrypted for this key and padding")]
    NotDecrypted,
    #[error("malformed login: expected user, password and time")]
    Malformed,
    #[error("the client's clock differs by {by_s} s; allowed are {allowed_s} s")]
    Skew { by_s: u64, allowed_s: u64 },
    #[error("the user `{user}` is unknown")]
    UnknownUser { user: String },
    #[error("the password of the user `{user}` is wrong")]
    WrongPassword { user: String },
    #[error("the login of the user `{user}` was used before")]
    Repeated { user: String },
    #[error("cannot read the file of users")]
    Users { source: io::Error },
}

impl LoginRefusal {
    /// Delay of every rejection: hides the time of decryption and of the search for users, and
    /// slows down guessing.
    pub const DELAY: Duration = Duration::from_millis(250);

    /// Advice for the user of the server.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::NoLogin => "start the client with --username and --rsa-public-key-path",
            Self::NotDecrypted | Self::Malformed => {
                "the client needs the public key of this private key; clients before iperf3 3.17 need a server with --use-pkcs1-padding"
            }
            Self::Skew { .. } => {
                "set both clocks, for example by NTP, or allow more with --time-skew-threshold"
            }
            Self::UnknownUser { .. } | Self::WrongPassword { .. } => {
                "the file of users has lines like `USER,HASH`, where HASH is that of `echo -n \"{USER}PASSWORD\" | sha256sum`"
            }
            Self::Repeated { .. } => {
                "each test has a login of its own; this one may have been intercepted and replayed"
            }
            Self::Users { .. } => "make the file readable for the server",
        }
    }
}

/// Credentials of a client.
#[derive(Clone)]
pub struct Credentials {
    user: String,
    password: String,
    key: Arc<RsaKey>,
    padding: RsaPadding,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Creates credentials for the server with this public key.
    ///
    /// # Errors
    /// Fails if the key cannot be used, or cannot encrypt user and password.
    pub fn new(
        (user, password): (&str, &str),
        public_key: &Path,
        padding: RsaPadding,
    ) -> Result<Self, LoginError> {
        for (what, word) in [("user's name", user), ("password", password)] {
            if !Login::is_valid_word(word) {
                return Err(LoginError::NoWord { what });
            }
        }
        let key = Arc::new(read_key(public_key, KeyHalf::Public)?);
        let (user, password) = (user.to_owned(), password.to_owned());
        let credentials = Self { user, password, key, padding };
        credentials.token()?;
        Ok(credentials)
    }

    /// Login token with the current time.
    pub(super) fn token(&self) -> Result<String, LoginError> {
        let (user, password) = (self.user.clone(), self.password.clone());
        let text = Login { user, password, time_s: now_s() }.to_text();
        let encrypted = self.key.convert(text.as_bytes(), self.padding);
        encrypted.map(|encrypted| STANDARD.encode(encrypted)).ok_or(LoginError::TooLong)
    }
}

/// Authentication of a server's clients.
pub struct LoginGate {
    key: RsaKey,
    padding: RsaPadding,
    users: PathBuf,
    skew_s: u64,
    /// Accepted tokens with their times, until they expire: prevents replay.
    used: Mutex<HashMap<Vec<u8>, i64>>,
}

impl fmt::Debug for LoginGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginGate").field("users", &self.users).finish_non_exhaustive()
    }
}

impl LoginGate {
    /// Opens a server's private key and checks the file of users, which is read again for each
    /// test.
    ///
    /// # Errors
    /// Fails if either file cannot be read, or the key is invalid.
    pub fn open(
        private_key: &Path,
        users: &Path,
        skew_s: u64,
        padding: RsaPadding,
    ) -> Result<Self, LoginError> {
        fs::read_to_string(users)
            .map_err(|source| LoginError::Read { what: "file of users", source })?;
        openssl::sha256(b"").map_err(|source| LoginError::NoHash { source })?;
        let key = read_key(private_key, KeyHalf::Private)?;
        let (users, used) = (users.to_owned(), Mutex::default());
        Ok(Self { key, padding, users, skew_s, used })
    }

    /// Checks that this is the login of a known user, with a current time, used for the first time.
    pub(super) fn admit(&self, token: Option<&str>) -> Result<(), LoginRefusal> {
        let encrypted = token.ok_or(LoginRefusal::NoLogin)?;
        let encrypted = STANDARD.decode(encrypted).map_err(|_| LoginRefusal::NotDecrypted)?;
        let text =
            self.key.convert(&encrypted, self.padding).ok_or(LoginRefusal::NotDecrypted)?;
        let login = Login::parse(&text).ok_or(LoginRefusal::Malformed)?;
        let now_s = now_s();
        let (by_s, allowed_s) = (now_s.abs_diff(login.time_s), self.skew_s);
        if by_s > allowed_s {
            return Err(LoginRefusal::Skew { by_s, allowed_s });
        }
        let users =
            fs::read_to_string(&self.users).map_err(|source| LoginRefusal::Users { source })?;
        let known: Vec<_> = login::user_hashes(&users, &login.user).collect();
        let hash = openssl::sha256(login.hash_input().as_bytes()).ok();
        // Compares in constant time, to reveal nothing about the password.
        let differs = |known: &[u8; 32], hash: &[u8; 32]| {
            known.iter().zip(hash).fold(0, |found, (known, byte)| found | (known ^ byte)) != 0
        };
        let is_right = |hash| known.iter().any(|known| !differs(known, hash));
        let user = login.user.clone();
        if known.is_empty() {
            return Err(LoginRefusal::UnknownUser { user });
        }
        if !hash.as_ref().is_some_and(is_right) {
            return Err(LoginRefusal::WrongPassword { user });
        }
        if self.was_used(encrypted, now_s) {
            return Err(LoginRefusal::Repeated { user });
        }
        Ok(())
    }

    fn was_used(&self, encrypted: Vec<u8>, now_s: i64) -> bool {
        let kept_s = self.skew_s.saturating_mul(2);
        // Every change below is complete before the lock is released.
        let mut used = self.used.lock().even_if_poisoned();
        used.retain(|_, at_s| now_s.abs_diff(*at_s) <= kept_s);
        used.insert(encrypted, now_s).is_some()
    }
}

fn read_key(path: &Path, half: KeyHalf) -> Result<RsaKey, LoginError> {
    let what = match half {
        KeyHalf::Public => "public key",
        KeyHalf::Private => "private key",
    };
    let pem = fs::read(path).map_err(|source| LoginError::Read { what, source })?;
    RsaKey::from_pem(&pem, half).map_err(|source| LoginError::Key {
        path: path.to_owned(),
        what,
        source,
    })
}

fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
