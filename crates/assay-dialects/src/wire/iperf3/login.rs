//! Login of an iperf3 client as plain text, and a server's list of authorized users (`iperf_auth.c`
//! of esnet/iperf). This module holds no key and opens no file.

use std::fmt;

/// Maximum length of user and password, as in iperf3.
pub const MAX_WORD_BYTES: usize = 255;
/// Bytes of a SHA-256 hash.
const HASH_BYTES: usize = 32;

/// User, password and time of a login. Its debug output omits the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user's name.
    pub user: String,
    /// The password.
    pub password: String,
    /// Time in seconds since 1970, by the client's clock.
    pub time_s: i64,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Login {
    /// Whether iperf3 can parse this user or password, which ends at white space.
    pub fn is_valid_word(text: &str) -> bool {
        (1..=MAX_WORD_BYTES).contains(&text.len())
            && !text.contains(|c: char| c.is_ascii_whitespace() || c == '\0')
    }

    /// Formats the text that is encrypted.
    pub fn to_text(&self) -> String {
        format!("user: {}\npwd:  {}\nts:   {}", self.user, self.password, self.time_s)
    }

    /// Parses a decrypted login; `None` if it is malformed.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
        let mut lines = text.lines();
        let mut word = |name: &str| {
            let word = lines.next()?.strip_prefix(name)?.trim_start();
            Self::is_valid_word(word).then(|| word.to_owned())
        };
        let (user, password) = (word("user:")?, word("pwd:")?);
        Some(Self { user, password, time_s: word("ts:")?.parse().ok()? })
    }

    /// Returns the input of the password hash, with the user as salt.
    pub fn hash_input(&self) -> String {
        format!("{{{}}}{}", self.user, self.password)
    }
}

/// Returns the password hashes of one user from a list with lines of `user,SHA-256`; `#` begins a
/// comment.
pub fn user_hashes<'a>(
    users: &'a str,
    user: &'a str,
) -> impl Iterator<Item = [u8; HASH_BYTES]> + 'a {
    let rows = users.lines().filter(|line| !line.starts_with('#'));
    let pairs = rows.filter_map(|line| line.split_once(','));
    pairs.filter(move |(name, _)| *name == user).filter_map(|(_, hash)| parse_hash(hash.trim()))
}

fn parse_hash(digits: &str) -> Option<[u8; HASH_BYTES]> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|digits| digits.len() == 2 * HASH_BYTES)?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_its_own_text() {
        let login = Login { user: "mario".into(), password: "rossi{}".into(), time_s: -3 };
        assert_eq!(Login::parse(login.to_text().as_bytes()), Some(login.clone()));
        // iperf3 encrypts a terminating zero with some versions of its library.
        assert_eq!(Login::parse((login.to_text() + "\0").as_bytes()), Some(login));
    }

    #[test]
    fn rejects_malformed_login() {
        let long = "x".repeat(MAX_WORD_BYTES + 1);
        for text in [
            "",
            "user: a",
            "user: a\npwd:  b",
            "user: a\npwd:  b\nts:   soon",
            "user: \npwd:  b\nts:   1",
            "user: a b\npwd:  b\nts:   1",
            "pwd:  b\nuser: a\nts:   1",
            "user: a\npwd:  b\nts:   99999999999999999999",
            &format!("user: {long}\npwd:  b\nts:   1"),
        ] {
            assert_eq!(Login::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Login::parse(b"user: \xff\npwd:  b\nts:   1"), None);
    }

    #[test]
    fn parses_user_list() {
        let hash = "0".repeat(63) + "A";
        let users = format!(
            "# a comment\n#mario,{hash}\n\nno comma\nmario,{hash}\r\nmario,short\nluigi,{hash}0\n"
        );
        assert_eq!(user_hashes(&users, "mario").count(), 1);
        assert_eq!(user_hashes(&users, "mario").next().map(|it| it[31]), Some(10));
        for unknown in ["luigi", "#mario", "", "no comma"] {
            assert_eq!(user_hashes(&users, unknown).count(), 0, "{unknown}");
        }
        // A two-byte UTF-8 character is not two digits.
        assert_eq!(user_hashes(&format!("u,{}", "é".repeat(32)), "u").count(), 0);
    }

    #[test]
    fn debug_output_omits_password() {
        let login = Login { user: "mario".into(), password: "secret".into(), time_s: 0 };
        assert!(!format!("{login:?}").contains("secret"));
    }
}
