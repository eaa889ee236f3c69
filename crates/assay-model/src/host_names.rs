//! Hosts by their names, in few words.

use std::collections::BTreeMap;

/// The hosts as a short list, which `--hosts` reads back: names that differ in their last number make a range.
#[must_use]
pub fn compact(hosts: &[&str]) -> String {
    /// What stands before the number, how wide it is written, and what stands behind it.
    type Kin<'a> = (&'a str, usize, &'a str);
    let mut kin: BTreeMap<Kin<'_>, Vec<u64>> = BTreeMap::new();
    let mut order: Vec<Result<Kin<'_>, &str>> = Vec::new();
    for host in hosts {
        let found = numbered(host);
        let place = found.map_or(Err(*host), |(family, _)| Ok(family));
        if let Some((family, number)) = found {
            kin.entry(family).or_default().push(number);
        }
        if !order.contains(&place) {
            order.push(place);
        }
    }
    let texts = order.into_iter().map(|place| match place {
        Err(host) => host.to_owned(),
        Ok(family) => family_text(family, kin.remove(&family).unwrap_or_default()),
    });
    texts.collect::<Vec<_>>().join(",")
}

/// Why a name of digits and dots is no address. Nothing else can be meant: no domain ends in a number.
#[must_use]
pub fn wrong_address(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_meant =
        parts.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    // `10.1` is 10.0.0.1 to the system: the last number takes the places of those that are missing.
    let fits = |(at, part): (usize, &&str)| match part.parse::<u64>() {
        Ok(number) if at + 1 < parts.len() => number < 256,
        Ok(number) => number < 256_u64.pow(5 - parts.len() as u32),
        Err(_) => false,
    };
    let is_one = parts.len() <= 4 && parts.iter().enumerate().all(fits);
    (is_meant && !is_one).then(|| format!("`{text}` is neither an address nor a name"))
}

/// Puts `n2` before `n10`: names by their letters, and the numbers within them by their values.
pub fn sort<T>(items: &mut [T], name: impl Fn(&T) -> &str) {
    items.sort_by(|one, other| in_pieces(name(one)).cmp(in_pieces(name(other))));
}

/// Letters and numbers in turn. Numbers are compared by their lengths without leading zeros first.
fn in_pieces(name: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let stretches = name.as_bytes().chunk_by(move |a, b| is_digit(a) == is_digit(b));
    let mut at = 0;
    stretches.map(move |stretch| {
        let piece = &name[at..at + stretch.len()];
        at += stretch.len();
        match is_digit(&stretch[0]) {
            true => {
                let value = piece.trim_start_matches('0');
                (1 + value.len(), value)
            }
            false => (0, piece),
        }
    })
}

/// A name around its last number, if that has a width of its own: `n007.site` → (`n`, 3, `.site`) and 7.
fn numbered(host: &str) -> Option<((&str, usize, &str), u64)> {
    let end = host.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = host[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + host[at..].chars().next().map_or(1, char::len_utf8));
    // An address of the Internet is no member of a family, and a number alone is no name.
    let is_name = host.starts_with(|c: char| c.is_alphabetic()) && !host.contains(':');
    let digits = &host[start..end];
    let width = if digits.starts_with('0') { digits.len() } else { 0 };
    let number = digits.parse().ok().filter(|_| is_name)?;
    Some(((&host[..start], width, &host[end..]), number))
}

fn family_text((before, width, behind): (&str, usize, &str), mut numbers: Vec<u64>) -> String {
    numbers.sort_unstable();
    let stretches = numbers.chunk_by(|one, next| one + 1 == *next).map(|stretch| {
        let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
        if first == last {
            format!("{first:0width$}")
        } else {
            format!("{first:0width$}-{last:0width$}")
        }
    });
    let text = stretches.collect::<Vec<_>>().join(",");
    if numbers.len() > 1 {
        format!("{before}[{text}]{behind}")
    } else {
        format!("{before}{text}{behind}")
    }
}

#[cfg(test)]
mod tests {
    use super::wrong_address;

    #[test]
    fn digits_and_dots_are_an_address_or_wrong() {
        for (text, is_wrong) in [
            ("10.0.0.1", false),
            ("10.1", false),
            ("10.65535", false),
            ("n1.site", false),
            ("1", false),
            ("::1", false),
            ("999.1", true),
            ("10.0.0.256", true),
            ("10.0.0.1.2", true),
            ("10..1", true),
        ] {
            assert_eq!(wrong_address(text).is_some(), is_wrong, "{text}");
        }
    }
}
