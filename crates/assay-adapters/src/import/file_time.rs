//! Times that tools print, with or without their zone.

/// Time of a measurement, as the file contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    /// Seconds since 1970. A time without zone is taken as UTC.
    pub unix_s: u64,
    /// Whether the file names the zone.
    pub has_zone: bool,
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// Zones with one meaning, and their offsets from UTC in minutes.
const ZONES: [(&str, i64); 8] = [
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("CET", 60),
    ("CEST", 120),
    ("EDT", -240),
    ("PDT", -420),
    ("JST", 540),
];

impl FileTime {
    /// Makes a time from seconds since 1970.
    pub const fn from_unix(unix_s: u64) -> Self {
        Self { unix_s, has_zone: true }
    }

    /// Parses the time of `ctime` and `date`: `Wed Jan  4 10:00:00 2023`, with a zone before or
    /// behind the year, or without; also `Wed 04 Jan 2023 10:00:00 PM UTC` of other locales.
    pub fn parse_ctime(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let at = words.iter().position(|word| MONTHS.contains(word))?;
        let month = MONTHS.iter().position(|name| Some(name) == words.get(at))? as i64 + 1;
        let parse_day = |word: &&str| {
            let day = word.trim_end_matches(',').parse::<i64>().ok();
            day.filter(|day| (1..=31).contains(day))
        };
        let behind = words.get(at + 1).and_then(parse_day);
        let before = || at.checked_sub(1).and_then(|at| words.get(at)).and_then(parse_day);
        let day = behind.or_else(before)?;
        let rest = words.get(at + 1..)?;
        let clock_at = rest.iter().position(|word| word.contains(':'))?;
        let half = rest.get(clock_at + 1).copied().unwrap_or_default();
        let day_s = to_24_hours(parse_clock(rest.get(clock_at)?)?, half)?;
        let year = rest
            .iter()
            .find(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()))?;
        let zone = rest.iter().find_map(|word| parse_zone(word));
        Self::from_fields((year.parse().ok()?, month, day), day_s, zone)
    }

    /// Parses the times of ISO 8601: `2023-01-04T10:00:00.5Z`, `2023-01-04 10:00:00+01:00`,
    /// `2023/01/04 10:00:00`.
    pub fn parse_iso(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = text.split_once(['T', ' '])?;
        let mut fields = date.split(['-', '/']).map(|field| field.parse::<i64>().ok());
        let date = (fields.next()??, fields.next()??, fields.next()??);
        let time = time.split_whitespace().collect::<String>();
        let end = time
            .find(|letter: char| !letter.is_ascii_digit() && !":.,".contains(letter))
            .unwrap_or(time.len());
        let (clock, zone) = time.split_at(end);
        let zone = match zone {
            "" => None,
            zone => Some(parse_zone(zone)?),
        };
        Self::from_fields(date, parse_clock(clock)?, zone)
    }

    /// Parses the time of HTTP (RFC 1123): `Wed, 04 Jan 2023 10:00:00 GMT`.
    pub fn parse_rfc1123(text: &str) -> Option<Self> {
        let mut words = text.split_once(", ")?.1.split_whitespace();
        let day = words.next()?.parse().ok()?;
        let name = words.next()?;
        let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
        let year = words.next()?.parse().ok()?;
        let clock = parse_clock(words.next()?)?;
        Self::from_fields((year, month, day), clock, words.next().and_then(parse_zone))
    }

    fn from_fields(
        (year, month, day): (i64, i64, i64),
        day_s: i64,
        zone: Option<i64>,
    ) -> Option<Self> {
        let is_date = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day);
        if !is_date {
            return None;
        }
        let unix_s = count_days(year, month, day) * 86_400 + day_s - zone.unwrap_or(0) * 60;
        Some(Self { unix_s: u64::try_from(unix_s).ok()?, has_zone: zone.is_some() })
    }
}

/// Parses `10:00:00` with an optional fraction, which is dropped.
fn parse_clock(text: &str) -> Option<i64> {
    let text = text.split(['.', ',']).next()?;
    let mut fields = text.split(':').map(|field| field.parse::<i64>().ok());
    let (hours, minutes) = (fields.next()??, fields.next()??);
    let seconds = fields.next().unwrap_or(Some(0))?;
    let is_clock =
        (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..=60).contains(&seconds);
    is_clock.then(|| (hours * 60 + minutes) * 60 + seconds)
}

/// Converts seconds of a clock with 12 hours if `half` is `AM` or `PM`.
fn to_24_hours(day_s: i64, half: &str) -> Option<i64> {
    const HALF_DAY_S: i64 = 43_200;
    let is_morning = match half {
        "AM" | "am" => true,
        "PM" | "pm" => false,
        _ => return Some(day_s),
    };
    // 12:30 AM is half an hour after midnight.
    let within = day_s % HALF_DAY_S;
    let is_clock = (3600..=HALF_DAY_S + 3599).contains(&day_s);
    is_clock.then_some(if is_morning { within } else { within + HALF_DAY_S })
}

/// Parses a zone: `Z`, `UTC`, `+0100`, `-08:00`. Abbreviations of several zones, like CST, are none.
fn parse_zone(text: &str) -> Option<i64> {
    if let Some((_, minutes)) = ZONES.iter().find(|(name, _)| *name == text) {
        return Some(*minutes);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let digits: String = digits.split(':').collect();
    let number: i64 = digits.parse().ok().filter(|_| digits.is_ascii())?;
    match digits.len() {
        2 if number < 24 => Some(sign * number * 60),
        4 if number / 100 < 24 => Some(sign * (number / 100 * 60 + number % 100)),
        _ => None,
    }
}

/// Counts the days from 1970-01-01 to a date of the Gregorian calendar. Formula: days before the
/// year's March, leap days of whole years, and days before the month, counted from March.
const fn count_days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let from_march = (month + 9) % 12;
    let leap_days = year / 4 - year / 100 + year / 400;
    /// Days from year 0's March 1 to 1970-01-01.
    const EPOCH: i64 = 719_468;
    365 * year + leap_days + (153 * from_march + 2) / 5 + day - 1 - EPOCH
}

#[cfg(test)]
mod tests {
    use super::FileTime;

    #[test]
    fn parses_times_with_and_without_zone() {
        let table = [
            ("Wed Jan  4 10:00:00 2023", Some((1_672_826_400, false))),
            ("Wed Jan 04 10:00:00 2023", Some((1_672_826_400, false))),
            ("Wed Jan  4 10:00:00 UTC 2023", Some((1_672_826_400, true))),
            ("Wed, 04 Jan 2023 10:00:00 GMT", Some((1_672_826_400, true))),
            ("2023-01-04T10:00:00", Some((1_672_826_400, false))),
            ("2023-01-04T10:00:00.123456Z", Some((1_672_826_400, true))),
            ("2023-01-04 11:00:00+01:00", Some((1_672_826_400, true))),
            ("2023-01-04T02:00:00-0800", Some((1_672_826_400, true))),
            ("2000-02-29 00:00:00", Some((951_782_400, false))),
            ("1970-01-01T00:00:00Z", Some((0, true))),
            ("1969-12-31T00:00:00Z", None),
            ("2023-13-01T00:00:00Z", None),
            ("2023-01-04T25:00:00Z", None),
            ("Wed Jan  4 10:00 2023 CST", Some((1_672_826_400, false))),
            ("Wed Jan  4 10:00:00 PM UTC 2023", Some((1_672_869_600, true))),
            ("Wed Jan  4 12:30:00 AM UTC 2023", Some((1_672_792_200, true))),
            ("Wed Jan  4 15:00:00 PM UTC 2023", None),
            ("Wed 04 Jan 2023 10:00:00 PM PDT", Some((1_672_894_800, true))),
            ("nothing", None),
        ];
        for (text, expected) in table {
            let parsed = FileTime::parse_ctime(text).or_else(|| FileTime::parse_iso(text));
            let parsed = parsed.map(|time| (time.unix_s, time.has_zone));
            assert_eq!(parsed, expected, "{text}");
        }
    }
}
