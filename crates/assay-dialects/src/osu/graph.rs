//! Files of OSU's `-N graph:FILE`: the neighbours of each rank in neighbourhood collectives.

use assay_model::benchmark::NeighborTopology;

/// Maximum number of edges; OSU's programs stop at 500.
const MAX_EDGES: usize = 100_000;
/// Number of ranks that an `int` can count.
const MAX_RANKS: u32 = i32::MAX.cast_unsigned();

/// Parses the edges of a graph: lines `FROM,TO` with the numbers of two ranks. Lines that begin with
/// `#` are comments.
///
/// # Errors
/// The line that is malformed, or the number of edges.
pub fn parse_graph(text: &str) -> Result<NeighborTopology, String> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut edges = Vec::new();
    for (number, line) in lines.filter(|(_, it)| !it.is_empty() && !it.starts_with('#')) {
        let malformed =
            || format!("line {number}: expected two ranks like 0,1, found {line:?}");
        let (from, to) = line.split_once(',').ok_or_else(malformed)?;
        let rank = |text: &str| text.trim().parse().ok().filter(|rank| *rank < MAX_RANKS);
        edges.push((rank(from).ok_or_else(malformed)?, rank(to).ok_or_else(malformed)?));
        if edges.len() > MAX_EDGES {
            return Err(format!("more than {MAX_EDGES} edges"));
        }
    }
    if edges.is_empty() {
        return Err("no edges; write one in a line, like 0,1".to_owned());
    }
    Ok(NeighborTopology::Graph { edges })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_graphs_like_osu() {
        let graph = parse_graph("# a comment\n2, 0\n0, 1\n\n1,3\n").unwrap();
        assert_eq!(graph, NeighborTopology::Graph { edges: vec![(2, 0), (0, 1), (1, 3)] });
        for (text, expected) in [
            ("", "no edges; write one in a line, like 0,1"),
            ("# 0,1\n", "no edges; write one in a line, like 0,1"),
            ("0,1\n0 1\n", "line 2: expected two ranks like 0,1, found \"0 1\""),
            ("0,-1", "line 1: expected two ranks like 0,1, found \"0,-1\""),
            ("0,1,2", "line 1: expected two ranks like 0,1, found \"0,1,2\""),
            ("0,2147483647", "line 1: expected two ranks like 0,1, found \"0,2147483647\""),
        ] {
            assert_eq!(parse_graph(text).unwrap_err(), expected, "{text:?}");
        }
    }
}
