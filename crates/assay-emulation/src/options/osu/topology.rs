//! Topologies of neighbourhood collectives, as OSU's option `-N` names them.

use assay_dialects::osu::parse_graph;
use assay_model::benchmark::NeighborTopology;

/// Maximum number of dimensions, as protection against typing errors.
const MAX_DIMENSIONS: u32 = 32;
/// Maximum distance of a neighbour.
const MAX_RADIUS: u32 = 1 << 20;
const EXPECTED: &str = "expected cart:DIMENSIONS:RADIUS, like cart:2:1, or graph:FILE";

/// Parses a topology, and reads the file of a graph.
///
/// # Errors
/// The reason, for an option that is malformed or a file that cannot be used.
pub(super) fn parse_topology(text: &str) -> Result<NeighborTopology, String> {
    let (kind, arguments) = text.split_once(':').ok_or(EXPECTED)?;
    match kind.to_ascii_lowercase().as_str() {
        "cart" => {
            let (dimensions, radius) = arguments.split_once(':').ok_or(EXPECTED)?;
            Ok(NeighborTopology::Cartesian {
                dimensions: parse_number("number of dimensions", dimensions, MAX_DIMENSIONS)?,
                radius: parse_number("radius", radius, MAX_RADIUS)?,
            })
        }
        "graph" => {
            let text = fs_err::read_to_string(arguments).map_err(|error| error.to_string())?;
            parse_graph(&text).map_err(|reason| format!("{arguments}: {reason}"))
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

fn parse_number(what: &str, text: &str, most: u32) -> Result<u32, String> {
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("expected a {what} from 1 to {most}, found {text:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_grids_like_osu() {
        let cartesian = |dimensions, radius| NeighborTopology::Cartesian { dimensions, radius };
        assert_eq!(parse_topology("cart:1:1"), Ok(NeighborTopology::default()));
        assert_eq!(parse_topology("CART:3:2"), Ok(cartesian(3, 2)));
        for (text, expected) in [
            ("ring", EXPECTED),
            ("cart:2", EXPECTED),
            ("hypercube:3", EXPECTED),
            ("cart:0:1", "expected a number of dimensions from 1 to 32, found \"0\""),
            ("cart:1:0", "expected a radius from 1 to 1048576, found \"0\""),
            ("cart:1:1:1", "expected a radius from 1 to 1048576, found \"1:1\""),
        ] {
            assert_eq!(parse_topology(text).unwrap_err(), expected, "{text}");
        }
        let missing = parse_topology("graph:/nonexistent/graph.adj").unwrap_err();
        assert!(missing.contains("/nonexistent/graph.adj"), "{missing}");
    }
}
