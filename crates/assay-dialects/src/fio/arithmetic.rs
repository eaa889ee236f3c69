//! Arithmetic in fio's values: `(1024*4)`, `(8k+4k)/2`, `2*$mb_memory` after keyword expansion.
//!
//! Supports the operators `+ - * / % ^` and parentheses with the usual precedence. A number may
//! carry a unit, which the caller parses. Never panics or loops on any input: the nesting depth is
//! bounded.

/// Maximum nesting depth; keeps recursion within the stack.
const MAX_DEPTH: u32 = 64;

/// Evaluates the expression; `number` parses one operand with its unit. Returns `None` for a
/// malformed expression or a division by zero.
pub(super) fn evaluate(text: &str, number: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut reader = ExpressionParser { text, position: 0, depth: 0, number };
    let value = reader.parse_sum()?;
    reader.skip_blanks();
    (reader.position == text.len() && value.is_finite()).then_some(value)
}

struct ExpressionParser<'a> {
    text: &'a str,
    position: usize,
    depth: u32,
    number: &'a dyn Fn(&str) -> Option<f64>,
}

impl ExpressionParser<'_> {
    fn parse_sum(&mut self) -> Option<f64> {
        let mut value = self.parse_product()?;
        while let Some(operator) = self.take_operator(b"+-") {
            let next = self.parse_product()?;
            value = if operator == b'+' { value + next } else { value - next };
        }
        Some(value)
    }

    fn parse_product(&mut self) -> Option<f64> {
        let mut value = self.parse_power()?;
        while let Some(operator) = self.take_operator(b"*/%") {
            let next = self.parse_power()?;
            if operator != b'*' && next == 0.0 {
                return None;
            }
            value = match operator {
                b'*' => value * next,
                b'/' => value / next,
                _ => value % next,
            };
        }
        Some(value)
    }

    fn parse_power(&mut self) -> Option<f64> {
        let base = self.parse_operand()?;
        match self.take_operator(b"^") {
            Some(_) => {
                self.descend()?;
                let value = base.powf(self.parse_power()?);
                self.depth -= 1;
                Some(value)
            }
            None => Some(base),
        }
    }

    fn parse_operand(&mut self) -> Option<f64> {
        self.skip_blanks();
        if self.take_operator(b"-").is_some() {
            self.descend()?;
            let value = -self.parse_operand()?;
            self.depth -= 1;
            return Some(value);
        }
        if self.take_operator(b"(").is_some() {
            self.descend()?;
            let value = self.parse_sum()?;
            self.depth -= 1;
            return self.take_operator(b")").map(|_| value);
        }
        let rest = &self.text[self.position..];
        let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
        let length = rest.find(ends).unwrap_or(rest.len());
        let value = (self.number)(&rest[..length])?;
        self.position += length;
        Some(value)
    }

    fn descend(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn take_operator(&mut self, accepted: &[u8]) -> Option<u8> {
        self.skip_blanks();
        let next = *self.text.as_bytes().get(self.position)?;
        accepted.contains(&next).then(|| {
            self.position += 1;
            next
        })
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }
}
