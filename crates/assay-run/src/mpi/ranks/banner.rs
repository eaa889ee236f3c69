//! Name and version of an MPI library, from the banner that it returns.

/// Text that identifies a banner, name of the library, text before the version. MVAPICH and Cray
/// come before MPICH, because their banners contain its name, too.
const BANNERS: &[(&str, &str, &str)] = &[
    ("MVAPICH", "MVAPICH", "Version"),
    ("CRAY MPICH", "Cray MPICH", "version"),
    ("Intel(R) MPI Library", "Intel MPI", "Library"),
    ("Open MPI", "Open MPI", "Open MPI v"),
    ("MPICH", "MPICH", "Version:"),
];

/// Parses name and version from the banner of a library or the output of its `mpichversion`.
pub fn parse_banner(banner: &str) -> (String, String) {
    let row = BANNERS.iter().find(|(text, ..)| banner.contains(text));
    let Some((_, name, before)) = row else {
        let name = banner.split_whitespace().next().unwrap_or("unknown");
        return (name.trim_end_matches(':').to_owned(), String::new());
    };
    let rest = banner.split_once(before).map_or("", |(_, rest)| rest);
    let rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '-'));
    let version = rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', '-']);
    ((*name).to_owned(), version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_banners_of_libraries() {
        for (banner, name, version) in [
            (
                "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022",
                "MPICH",
                "4.0.2",
            ),
            (
                "Intel(R) MPI Library 2021.18.1 for Linux* OS (oneAPI)\n",
                "Intel MPI",
                "2021.18.1",
            ),
            (
                "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022",
                "Open MPI",
                "4.1.4",
            ),
            ("MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date :", "MVAPICH", "2.3.7"),
            (
                "MVAPICH Version:        4.0\nMVAPICH Release date:   06 Mar 2025",
                "MVAPICH",
                "4.0",
            ),
            (
                "MPI VERSION    : CRAY MPICH version 8.1.32.110 (ANL base 3.4a2)",
                "Cray MPICH",
                "8.1.32.110",
            ),
            ("Fancy: something", "Fancy", ""),
            ("", "unknown", ""),
        ] {
            assert_eq!(parse_banner(banner), (name.to_owned(), version.to_owned()), "{banner}");
        }
    }
}
