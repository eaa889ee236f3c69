//! What a client of iperf3 says of its user, before it is encrypted, and what a server knows of its users
//! (`iperf_auth.c` of esnet/iperf). Knows no key and opens no file.

use std::fmt;

/// iperf3 itself reads no longer user or password.
pub const LONGEST_WORD: usize = 255;
/// Bytes of a SHA-256.
const HASH_BYTES: usize = 32;

/// Who asks, and when. Its password is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user's name.
    pub user: String,
    /// The password.
    pub password: String,
    /// Seconds since 1970, by the client's clock.
    pub at_s: i64,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Login {
    /// Whether this can be a user or a password: iperf3 reads up to white space.
    #[must_use]
    pub fn is_word(text: &str) -> bool {
        (1..=LONGEST_WORD).contains(&text.len())
            && !text.contains(|c: char| c.is_ascii_whitespace() || c == '\0')
    }

    /// As it is encrypted.
    #[must_use]
    pub fn text(&self) -> String {
        format!("user: {}\npwd:  {}\nts:   {}", self.user, self.password, self.at_s)
    }

    /// What was decrypted; `None` when it is no login.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
        let mut lines = text.lines();
        let mut word = |name: &str| {
            let word = lines.next()?.strip_prefix(name)?.trim_start();
            Self::is_word(word).then(|| word.to_owned())
        };
        let (user, password) = (word("user:")?, word("pwd:")?);
        Some(Self { user, password, at_s: word("ts:")?.parse().ok()? })
    }

    /// What the hash of a password is made of; its user is the salt.
    #[must_use]
    pub fn salted(&self) -> String {
        format!("{{{}}}{}", self.user, self.password)
    }
}

/// The hashes that a file of users has for one of them: lines of `user,SHA-256`, `#` begins a comment.
pub fn hashes<'a>(
    users: &'a str,
    user: &'a str,
) -> impl Iterator<Item = [u8; HASH_BYTES]> + 'a {
    let rows = users.lines().filter(|line| !line.starts_with('#'));
    let pairs = rows.filter_map(|line| line.split_once(','));
    pairs.filter(move |(name, _)| *name == user).filter_map(|(_, hash)| hash_of(hash.trim()))
}

fn hash_of(digits: &str) -> Option<[u8; HASH_BYTES]> {
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
    fn a_login_is_read_as_it_is_written() {
        let login = Login { user: "mario".into(), password: "rossi{}".into(), at_s: -3 };
        assert_eq!(Login::read(login.text().as_bytes()), Some(login.clone()));
        // iperf3 encrypts a terminating zero with some versions of its library.
        assert_eq!(Login::read((login.text() + "\0").as_bytes()), Some(login));
    }

    #[test]
    fn what_is_no_login_is_none() {
        let long = "x".repeat(LONGEST_WORD + 1);
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
            assert_eq!(Login::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Login::read(b"user: \xff\npwd:  b\nts:   1"), None);
    }

    #[test]
    fn users_are_lines_of_name_and_hash() {
        let hash = "0".repeat(63) + "A";
        let users = format!(
            "# a comment\n#mario,{hash}\n\nno comma\nmario,{hash}\r\nmario,short\nluigi,{hash}0\n"
        );
        assert_eq!(hashes(&users, "mario").count(), 1);
        assert_eq!(hashes(&users, "mario").next().map(|it| it[31]), Some(10));
        for nobody in ["luigi", "#mario", "", "no comma"] {
            assert_eq!(hashes(&users, nobody).count(), 0, "{nobody}");
        }
        // Two bytes of UTF-8 are no two digits.
        assert_eq!(hashes(&format!("u,{}", "é".repeat(32)), "u").count(), 0);
    }

    #[test]
    fn a_password_is_not_shown() {
        let login = Login { user: "mario".into(), password: "secret".into(), at_s: 0 };
        assert!(!format!("{login:?}").contains("secret"));
    }
}
