//! iperf3's authentication: user, password and time under the RSA key of a server, which knows its users by
//! hashes of their passwords. Passwords are neither kept on disk nor shown.
//!
//! The cryptography is AWS-LC's (`docs/decisions/0013-rsa-by-aws-lc.md`). Whoever is refused learns neither
//! why nor which users there are; the server's own output tells.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use assay_dialects::wire::iperf3::login::{self, Login};
use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{
    KeyPair, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, OaepPublicEncryptingKey,
    Pkcs1PrivateDecryptingKey, Pkcs1PublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey,
};
use aws_lc_rs::{constant_time, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fs_err as fs;
use thiserror::Error;

/// How a login is padded before it is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// OAEP with SHA-1, as iperf3 since 3.17.
    Oaep,
    /// PKCS #1 v1.5, as before, and with `--use-pkcs1-padding`.
    Pkcs1,
}

/// Why nobody can log in here, or with this.
#[derive(Debug, Error)]
pub enum LoginError {
    #[error("the {what} cannot be read")]
    Read { what: &'static str, source: io::Error },
    #[error("{} holds no {what} in PEM without a passphrase", path.display())]
    NoKey { path: PathBuf, what: &'static str },
    #[error("the {what} in {} is no RSA key of 2048 to 8192 bits", path.display())]
    KeyRejected { path: PathBuf, what: &'static str },
    #[error("user and password together are too long for this key")]
    TooLong,
    #[error("a {what} has 1 to {} bytes without white space", login::LONGEST_WORD)]
    NoWord { what: &'static str },
}

/// Why a server does not admit a client.
#[derive(Debug, Error)]
pub enum Refusal {
    #[error("it sent no user and password")]
    NoLogin,
    #[error("what it sent was not encrypted for this key and padding")]
    NotDecrypted,
    #[error("what it encrypted is not a user, a password and a time")]
    Malformed,
    #[error("its clock differs by {by_s} s, and {allowed_s} s are allowed")]
    Skew { by_s: u64, allowed_s: u64 },
    #[error("the user `{user}` is unknown")]
    UnknownUser { user: String },
    #[error("the password of the user `{user}` is wrong")]
    WrongPassword { user: String },
    #[error("the login of the user `{user}` was used before")]
    Repeated { user: String },
    #[error("the file of users cannot be read")]
    Users { source: io::Error },
}

impl Refusal {
    /// How long a client waits for a refusal, whatever the reason: what decryption and users take is not
    /// to be seen, and guesses are slow.
    pub const AFTER: Duration = Duration::from_millis(250);

    /// What the server's user can do.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::NoLogin => "the client takes --username and --rsa-public-key-path",
            Self::NotDecrypted | Self::Malformed => {
                "the client needs the public key of this private key; clients before iperf3 3.17 need a server with --use-pkcs1-padding"
            }
            Self::Skew { .. } => {
                "set both clocks, for example by NTP, or allow more with --time-skew-threshold"
            }
            Self::UnknownUser { .. } | Self::WrongPassword { .. } => {
                "the file of users has lines like `USER,HASH`, where HASH is that of `echo -n \"{USER}PASSWORD\" | sha256sum`"
            }
            Self::Repeated { .. } => "each test has its own; was somebody listening?",
            Self::Users { .. } => "see that the server may read it",
        }
    }
}

/// What a client logs in with.
#[derive(Clone)]
pub struct Credentials {
    user: String,
    password: String,
    key: PublicEncryptingKey,
    padding: Padding,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Credentials {
    /// For the server whose public key this is.
    ///
    /// # Errors
    /// When the key cannot be used, or user and password cannot be sent with it.
    pub fn new(
        (user, password): (&str, &str),
        public_key: &Path,
        padding: Padding,
    ) -> Result<Self, LoginError> {
        const WHAT: &str = "public key";
        for (what, word) in [("user's name", user), ("password", password)] {
            if !Login::is_word(word) {
                return Err(LoginError::NoWord { what });
            }
        }
        let (_, der) = pem(public_key, &["PUBLIC KEY"], WHAT)?;
        let key = PublicEncryptingKey::from_der(&der)
            .map_err(|_| LoginError::KeyRejected { path: public_key.to_owned(), what: WHAT })?;
        let (user, password) = (user.to_owned(), password.to_owned());
        let credentials = Self { user, password, key, padding };
        credentials.token()?;
        Ok(credentials)
    }

    /// What logs in now.
    pub(super) fn token(&self) -> Result<String, LoginError> {
        let (user, password) = (self.user.clone(), self.password.clone());
        let text = Login { user, password, at_s: now_s() }.text();
        let key = self.key.clone();
        let mut room = vec![0; key.key_size_bytes()];
        let encrypted = match self.padding {
            Padding::Oaep => OaepPublicEncryptingKey::new(key).and_then(|key| {
                key.encrypt(&OAEP_SHA1_MGF1SHA1, text.as_bytes(), &mut room, None)
                    .map(|encrypted| STANDARD.encode(encrypted))
            }),
            Padding::Pkcs1 => Pkcs1PublicEncryptingKey::new(key).and_then(|key| {
                key.encrypt(text.as_bytes(), &mut room)
                    .map(|encrypted| STANDARD.encode(encrypted))
            }),
        };
        encrypted.map_err(|_| LoginError::TooLong)
    }
}

/// Whom a server admits.
pub struct Gate {
    key: Key,
    users: PathBuf,
    skew_s: u64,
    /// What was admitted and when, until it is too old anyway: what was overheard lets nobody in.
    used: Mutex<HashMap<Vec<u8>, i64>>,
}

enum Key {
    Oaep(OaepPrivateDecryptingKey),
    Pkcs1(Pkcs1PrivateDecryptingKey),
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("users", &self.users).finish_non_exhaustive()
    }
}

impl Gate {
    /// With a server's private key; its users are read anew for each test.
    ///
    /// # Errors
    /// When one of both cannot be read, or the key is none.
    pub fn open(
        private_key: &Path,
        users: &Path,
        skew_s: u64,
        padding: Padding,
    ) -> Result<Self, LoginError> {
        const WHAT: &str = "private key";
        fs::read_to_string(users)
            .map_err(|source| LoginError::Read { what: "file of users", source })?;
        let rejected = || LoginError::KeyRejected { path: private_key.to_owned(), what: WHAT };
        let key = match pem(private_key, &["PRIVATE KEY", "RSA PRIVATE KEY"], WHAT)? {
            ("PRIVATE KEY", der) => PrivateDecryptingKey::from_pkcs8(&der),
            (_, der) => KeyPair::from_der(&der).and_then(|key| {
                let der = key.as_der()?;
                PrivateDecryptingKey::from_pkcs8(der.as_ref())
            }),
        };
        let key = key.map_err(|_| rejected())?;
        let key = match padding {
            Padding::Oaep => OaepPrivateDecryptingKey::new(key).map(Key::Oaep),
            Padding::Pkcs1 => Pkcs1PrivateDecryptingKey::new(key).map(Key::Pkcs1),
        };
        let key = key.map_err(|_| rejected())?;
        Ok(Self { key, users: users.to_owned(), skew_s, used: Mutex::default() })
    }

    /// Whether this is a login of a user, of now, and comes for the first time.
    pub(super) fn admit(&self, token: Option<&str>) -> Result<(), Refusal> {
        let encrypted = token.ok_or(Refusal::NoLogin)?;
        let encrypted = STANDARD.decode(encrypted).map_err(|_| Refusal::NotDecrypted)?;
        let text = self.decrypted(&encrypted).ok_or(Refusal::NotDecrypted)?;
        let login = Login::read(&text).ok_or(Refusal::Malformed)?;
        let now_s = now_s();
        let (by_s, allowed_s) = (now_s.abs_diff(login.at_s), self.skew_s);
        if by_s > allowed_s {
            return Err(Refusal::Skew { by_s, allowed_s });
        }
        let users =
            fs::read_to_string(&self.users).map_err(|source| Refusal::Users { source })?;
        let known: Vec<_> = login::hashes(&users, &login.user).collect();
        let hash = digest::digest(&digest::SHA256, login.salted().as_bytes());
        let is_this =
            |known: &[u8; 32]| constant_time::verify_slices_are_equal(known, hash.as_ref());
        let user = login.user.clone();
        if known.is_empty() {
            return Err(Refusal::UnknownUser { user });
        }
        if !known.iter().any(|known| is_this(known).is_ok()) {
            return Err(Refusal::WrongPassword { user });
        }
        if self.was_used(encrypted, now_s) {
            return Err(Refusal::Repeated { user });
        }
        Ok(())
    }

    fn was_used(&self, encrypted: Vec<u8>, now_s: i64) -> bool {
        let kept_s = self.skew_s.saturating_mul(2);
        // Every change below is made whole before the lock is given back.
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, at_s| now_s.abs_diff(*at_s) <= kept_s);
        used.insert(encrypted, now_s).is_some()
    }

    fn decrypted(&self, encrypted: &[u8]) -> Option<Vec<u8>> {
        match &self.key {
            Key::Oaep(key) => {
                let mut room = vec![0; key.min_output_size()];
                let text = key.decrypt(&OAEP_SHA1_MGF1SHA1, encrypted, &mut room, None);
                text.ok().map(|text| text.to_vec())
            }
            Key::Pkcs1(key) => {
                let mut room = vec![0; key.min_output_size()];
                key.decrypt(encrypted, &mut room).ok().map(|text| text.to_vec())
            }
        }
    }
}

/// The first block of a PEM file (RFC 7468) that has one of these names.
fn pem(
    path: &Path,
    names: &[&'static str],
    what: &'static str,
) -> Result<(&'static str, Vec<u8>), LoginError> {
    let text = fs::read_to_string(path).map_err(|source| LoginError::Read { what, source })?;
    let block = names.iter().find_map(|name| {
        let (_, rest) = text.split_once(&format!("-----BEGIN {name}-----"))?;
        let (body, _) = rest.split_once(&format!("-----END {name}-----"))?;
        let digits: String = body.split_whitespace().collect();
        Some((*name, STANDARD.decode(digits).ok()?))
    });
    block.ok_or_else(|| LoginError::NoKey { path: path.to_owned(), what })
}

fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
