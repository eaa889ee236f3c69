//! Permission to read the pages: checks of `Host`, of the page that asks, and of the token.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use assay_run::failure::CommandFailure;
use fs_err as fs;

use super::request::{Refusal, Request};

/// Name of the cookie that replaces the token.
const COOKIE: &str = "assay";
/// Purpose of the key in the cookie: it cannot be turned into the token.
const COOKIE_PURPOSE: &str = "assay 2026-11-27 cookie of serve";
/// Permitted lengths of a token; 16 letters of 64 have 96 bits.
const TOKEN_LETTERS: std::ops::RangeInclusive<usize> = 16..=256;
const MAX_TOKEN_FILE_BYTES: u64 = 4096;
const MAX_HOST_NAME_BYTES: usize = 255;

#[derive(Debug, Clone)]
pub(super) struct AccessRules {
    token: Option<AccessToken>,
    /// Name of this machine; empty on loopback, where no other name leads here.
    machine: String,
}

/// Permission to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AccessGrant {
    /// The page may be sent.
    Open,
    /// The token was in the address: it is put into a cookie, and the address is asked for again
    /// without it.
    SetCookie(String),
}

/// Token, as digests: comparing them takes the same time for every guess.
#[derive(Debug, Clone)]
struct AccessToken {
    digest: blake3::Hash,
    cookie: String,
    cookie_digest: blake3::Hash,
}

impl AccessRules {
    /// Returns the rules for an address to which the server is bound.
    ///
    /// # Errors
    /// If others may reach the address and there is no token, or the token cannot be used.
    pub(super) fn new(
        address: IpAddr,
        token_file: Option<&Path>,
    ) -> Result<Self, CommandFailure> {
        let token = token_file.map(read_token).transpose()?;
        if !address.is_loopback() && token.is_none() {
            return Err(CommandFailure::usage(format!(
                "other machines can reach {address}, and there is no token"
            ))
            .advise("name a file with a secret of at least 16 letters: --token-file FILE"));
        }
        let machine = match address.is_loopback() {
            true => String::new(),
            false => fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default(),
        };
        let machine = first_label(machine.trim()).to_ascii_lowercase();
        Ok(Self { token: token.as_deref().map(AccessToken::new), machine })
    }

    /// Checks a request.
    pub(super) fn check(&self, request: &Request) -> Result<AccessGrant, Refusal> {
        let host = request.field("host").unwrap_or_default();
        if !self.is_own_name(host) {
            return Err(Refusal::new(421, "this server has no site of that `Host`"));
        }
        check_origin(request, host)?;
        match &self.token {
            Some(token) => token.check(request),
            None => Ok(AccessGrant::Open),
        }
    }

    /// Whether a `Host` leads here without a name of others: such a name could be one of a foreign
    /// page that was pointed to this address.
    fn is_own_name(&self, host: &str) -> bool {
        if host.len() > MAX_HOST_NAME_BYTES {
            return false;
        }
        let is_port = |port: &str| port.parse::<u16>().is_ok();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (host, None),
        };
        if !port.is_none_or(is_port) {
            return false;
        }
        let literal = match name.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(inside) => inside.parse().ok().map(IpAddr::V6),
            None => name.parse().ok().map(IpAddr::V4),
        };
        match literal {
            Some(address) => address.is_loopback() || !self.machine.is_empty(),
            None => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                let is_machine = !self.machine.is_empty() && first_label(&name) == self.machine;
                name == "localhost" || is_machine
            }
        }
    }
}

/// Refuses requests of pages of other sites. Such a page may link to this one.
fn check_origin(request: &Request, host: &str) -> Result<(), Refusal> {
    let foreign = || Refusal::new(403, "a page of another site asked for this");
    let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(|it| it == host);
    if !request.field("origin").is_none_or(is_own) {
        return Err(foreign());
    }
    let is_navigation = request.field("sec-fetch-mode") == Some("navigate")
        && request.field("sec-fetch-dest") == Some("document");
    match request.field("sec-fetch-site") {
        None | Some("same-origin" | "none") => Ok(()),
        Some(_) if is_navigation => Ok(()),
        Some(_) => Err(foreign()),
    }
}

impl AccessToken {
    fn new(token: &str) -> Self {
        let cookie =
            blake3::Hash::from_bytes(blake3::derive_key(COOKIE_PURPOSE, token.as_bytes()));
        let cookie = cookie.to_hex().to_string();
        Self {
            digest: blake3::hash(token.as_bytes()),
            cookie_digest: blake3::hash(cookie.as_bytes()),
            cookie,
        }
    }

    fn check(&self, request: &Request) -> Result<AccessGrant, Refusal> {
        // Digests are compared in constant time.
        let is_token = |guess: &str| blake3::hash(guess.as_bytes()) == self.digest;
        let is_cookie = |guess: &str| blake3::hash(guess.as_bytes()) == self.cookie_digest;
        let typed = request.query.split('&').find_map(|it| it.strip_prefix("token="));
        if let Some(typed) = typed {
            return match is_token(typed) {
                true => Ok(AccessGrant::SetCookie(format!(
                    "{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict",
                    self.cookie
                ))),
                false => Err(Refusal::new(401, "the token is wrong")),
            };
        }
        let header = request.field("authorization").and_then(|it| it.strip_prefix("Bearer "));
        let cookies = request.field("cookie").unwrap_or_default().split("; ");
        let mut cookies = cookies.filter_map(|it| it.strip_prefix(COOKIE)?.strip_prefix('='));
        match header.is_some_and(is_token) || cookies.any(is_cookie) {
            true => Ok(AccessGrant::Open),
            false => Err(Refusal::new(
                401,
                "a token is needed: append `?token=` and the contents of the token file to the address",
            )),
        }
    }
}

/// Reads a token that only its owner can read.
fn read_token(path: &Path) -> Result<String, CommandFailure> {
    let failure = |reason: String| {
        CommandFailure::usage(format!("cannot use the token in {}", path.display()))
            .with_reason(reason)
    };
    let metadata = fs::metadata(path).map_err(|error| {
        CommandFailure::usage(format!("cannot read the token in {}", path.display()))
            .with_cause(&error)
            .with_known_advice()
    })?;
    if !metadata.is_file() || metadata.len() > MAX_TOKEN_FILE_BYTES {
        return Err(failure(format!("it is no file of at most {MAX_TOKEN_FILE_BYTES} bytes"))
            .advise("write one line with a secret into a file"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(failure("others may read the file".to_owned())
            .advise(format!("take their rights: chmod 600 {}", path.display())));
    }
    let text = fs::read_to_string(path).map_err(|error| failure(error.to_string()))?;
    let token = text.trim_end_matches(['\n', '\r']);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._~".contains(letter);
    if !TOKEN_LETTERS.contains(&token.len()) || !token.chars().all(is_plain) {
        return Err(failure(format!(
            "a token has {} to {} letters, digits, `-`, `.`, `_` or `~`",
            TOKEN_LETTERS.start(),
            TOKEN_LETTERS.end()
        ))
        .advise("make one: `head -c 24 /dev/urandom | base64 | tr +/ -_ > token`"));
    }
    Ok(token.to_owned())
}

fn first_label(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}
