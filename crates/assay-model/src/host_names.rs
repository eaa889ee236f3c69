//! Host lists: compact notation, natural sort order, and validation of addresses.

use std::collections::BTreeMap;

/// Formats hosts as a compact list that `--hosts` accepts: names that differ only in their last
/// number form a range.
pub fn format_host_list(hosts: &[&str]) -> String {
    /// Text before the number, its zero-padded width (0 = not padded), and text after it.
    type Family<'a> = (&'a str, usize, &'a str);
    let mut numbers: BTreeMap<Family<'_>, Vec<u64>> = BTreeMap::new();
    let mut order: Vec<Result<Family<'_>, &str>> = Vec::new();
    for host in hosts {
        let found = split_last_number(host);
        let entry = found.map_or(Err(*host), |(family, _)| Ok(family));
        if let Some((family, number)) = found {
            numbers.entry(family).or_default().push(number);
        }
        if !order.contains(&entry) {
            order.push(entry);
        }
    }
    let texts = order.into_iter().map(|entry| match entry {
        Err(host) => host.to_owned(),
        Ok(family) => format_family(family, numbers.remove(&family).unwrap_or_default()),
    });
    texts.collect::<Vec<_>>().join(",")
}

/// Returns an error message for a name of digits and dots that is not an IPv4 address. It cannot be
/// a host name, because no domain ends in a number.
pub fn address_error(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_meant =
        parts.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    // `10.1` is 10.0.0.1 to the system: the last number fills all missing bytes.
    let fits = |(at, part): (usize, &&str)| match part.parse::<u64>() {
        Ok(number) if at + 1 < parts.len() => number < 256,
        Ok(number) => number < 256_u64.pow(5 - parts.len() as u32),
        Err(_) => false,
    };
    let is_one = parts.len() <= 4 && parts.iter().enumerate().all(fits);
    (is_meant && !is_one).then(|| format!("`{text}` is neither an address nor a name"))
}

/// Sorts naturally, so that `n2` comes before `n10`: letters alphabetically, numbers by value.
pub fn sort_naturally<T>(items: &mut [T], name: impl Fn(&T) -> &str) {
    items.sort_by(|one, other| split_numbers(name(one)).cmp(split_numbers(name(other))));
}

/// Splits a name into letters and numbers. A number is compared by its length without leading zeros
/// first.
fn split_numbers(name: &str) -> impl Iterator<Item = (usize, &str)> {
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

/// Splits a name around its last number: `n007.site` → (`n`, 3, `.site`) and 7.
fn split_last_number(host: &str) -> Option<((&str, usize, &str), u64)> {
    let end = host.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = host[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + host[at..].chars().next().map_or(1, char::len_utf8));
    // An IP address does not belong to a range, and a number alone is not a name.
    let is_name = host.starts_with(|c: char| c.is_alphabetic()) && !host.contains(':');
    let digits = &host[start..end];
    let width = if digits.starts_with('0') { digits.len() } else { 0 };
    let number = digits.parse().ok().filter(|_| is_name)?;
    Some(((&host[..start], width, &host[end..]), number))
}

fn format_family((before, width, after): (&str, usize, &str), mut numbers: Vec<u64>) -> String {
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
        format!("{before}[{text}]{after}")
    } else {
        format!("{before}{text}{after}")
    }
}

#[cfg(test)]
mod tests {
    use super::address_error;

    #[test]
    fn rejects_invalid_ipv4_addresses() {
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
            assert_eq!(address_error(text).is_some(), is_wrong, "{text}");
        }
    }
}
