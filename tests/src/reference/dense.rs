//! Linear algebra and physics in double precision: products, solutions, inverses, one step of bodies and of a fluid.

use super::{Expected, Inputs, Word};

/// C = relu-like(alpha A B + beta C + bias); sizes and activation from the parameters.
pub(super) fn matmul(inputs: &Inputs) -> Vec<Expected> {
    let sizes = inputs.words(0);
    let (m, n, depth) = (sizes[0] as usize, sizes[1] as usize, sizes[2] as usize);
    let scales = inputs.floats(0);
    let (alpha, beta) = (scales[4], scales[5]);
    let (a, b, bias, c) = (inputs.floats(1), inputs.floats(2), inputs.floats(3), inputs.floats(4));
    let mut words = Vec::new();
    for row in 0..m {
        for column in 0..n {
            let terms = (0..depth).map(|k| a[row * depth + k] * b[k * n + column]);
            let (sum, size) = terms.fold((0.0, 0.0), |(s, t), x| (s + x, t + x.abs()));
            let value = alpha * sum + beta * c[row * n + column] + bias[column];
            let value = match sizes[3] {
                1 => value.max(0.0),
                2 => value.max(0.01 * value),
                3 => value.clamp(-1.0, 1.0),
                _ => value,
            };
            words.push(Word::near(value, 1e-6, alpha.abs() * size + 1.0));
        }
    }
    vec![Expected { binding: 4, words }]
}

/// A Jacobi step with an ELLPACK matrix: next x, residual, and the squared norm of the residual of each 16 rows.
pub(super) fn spmv(inputs: &Inputs) -> Vec<Expected> {
    let sizes = inputs.words(0);
    let (rows, columns, width) = (sizes[0] as usize, sizes[1] as usize, sizes[2] as usize);
    let omega = inputs.floats(0)[3];
    let (lengths, places) = (inputs.words(1), inputs.words(2));
    let (values, x, b, diagonal) =
        (inputs.floats(3), inputs.floats(4), inputs.floats(5), inputs.floats(6));
    let residual: Vec<f64> = (0..rows)
        .map(|row| {
            let entries = row * width..row * width + (lengths[row] as usize).min(width);
            let inside = entries.filter(|at| (places[*at] as usize) < columns);
            b[row] - inside.map(|at| values[at] * x[places[at] as usize]).sum::<f64>()
        })
        .collect();
    let next = (0..rows).map(|row| x[row] + omega * residual[row] / diagonal[row]);
    let norms = residual.chunks(16).map(|r| r.iter().map(|v| v * v).sum::<f64>());
    let near = |value: f64| Word::near(value, 2e-6, width as f64);
    vec![
        Expected { binding: 7, words: next.map(near).collect() },
        Expected { binding: 8, words: residual.iter().copied().map(near).collect() },
        Expected { binding: 9, words: norms.map(near).collect() },
    ]
}

type Matrix = Vec<Vec<f64>>;

/// The inverse by Gauss and Jordan with partial pivoting, the determinant, and the least pivot's magnitude.
fn gauss_jordan(matrix: &Matrix) -> (Matrix, f64, f64) {
    let n = matrix.len();
    let mut work: Matrix = matrix
        .iter()
        .enumerate()
        .map(|(i, row)| {
            row.iter().copied().chain((0..n).map(|j| f64::from(u8::from(i == j)))).collect()
        })
        .collect();
    let (mut determinant, mut least) = (1.0f64, f64::INFINITY);
    for k in 0..n {
        let pivot =
            (k..n).max_by(|i, j| work[*i][k].abs().total_cmp(&work[*j][k].abs())).unwrap_or(k);
        if pivot != k {
            work.swap(pivot, k);
            determinant = -determinant;
        }
        let scale = work[k][k];
        determinant *= scale;
        least = least.min(scale.abs());
        for value in &mut work[k] {
            *value /= scale;
        }
        let row = work[k].clone();
        for (i, other) in work.iter_mut().enumerate() {
            if i != k {
                let factor = other[k];
                for (value, from) in other.iter_mut().zip(&row) {
                    *value -= factor * from;
                }
            }
        }
    }
    (work.into_iter().map(|row| row[n..].to_vec()).collect(), determinant, least)
}

/// The largest sum of magnitudes of a row.
fn norm(matrix: &Matrix) -> f64 {
    matrix.iter().map(|row| row.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max)
}

/// Solutions of 6 x 6 systems with determinant and least pivot. Tolerances follow the condition number.
pub(super) fn linear_solve(inputs: &Inputs) -> Vec<Expected> {
    const N: usize = 6;
    let count = inputs.words(0)[0] as usize;
    let (matrices, right) = (inputs.floats(1), inputs.floats(2));
    let mut solutions = Vec::new();
    let mut reports = Vec::new();
    for system in 0..count {
        let matrix: Matrix =
            matrices[N * N * system..][..N * N].chunks_exact(N).map(<[f64]>::to_vec).collect();
        let b = &right[N * system..][..N];
        let (inverse, determinant, least) = gauss_jordan(&matrix);
        let dot = |row: &Vec<f64>| row.iter().zip(b).map(|(a, x)| a * x).sum::<f64>();
        let x: Vec<f64> = inverse.iter().map(dot).collect();
        let size = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let condition = norm(&matrix) * norm(&inverse);
        let error = 2e-7 * condition;
        solutions.extend(x.iter().map(|v| Word::Float { value: *v, within: error * size }));
        reports.extend([
            Word::Float { value: determinant, within: error * determinant.abs() + 1e-7 },
            Word::Float { value: 0.0, within: 1e-5 * (1.0 + norm(&matrix) * size) },
            Word::Float { value: least, within: error * least + 1e-5 },
            Word::Any, // which rows are exchanged may hang on a rounding
        ]);
    }
    vec![Expected { binding: 3, words: solutions }, Expected { binding: 4, words: reports }]
}

/// The matrix (rows of rows) that scales, turns by a quaternion (not of unit length) and moves.
fn compose(instance: &[f64]) -> Matrix {
    let length = instance[4..8].iter().map(|v| v * v).sum::<f64>().sqrt();
    let q: Vec<f64> = instance[4..8].iter().map(|v| v / length).collect();
    // v' = v + 2 w (u x v) + 2 u x (u x v), of each scaled axis.
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let u = [q[0], q[1], q[2]];
    let mut matrix = vec![vec![0.0; 4]; 4];
    for axis in 0..3 {
        let mut v = [0.0; 3];
        v[axis] = instance[8 + axis];
        let once = cross(u, v);
        let twice = cross(u, once);
        for row in 0..3 {
            matrix[row][axis] = v[row] + 2.0 * q[3] * once[row] + 2.0 * twice[row];
        }
    }
    for row in 0..3 {
        matrix[row][3] = instance[row];
    }
    matrix[3][3] = 1.0;
    matrix
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let cell =
        |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, line)| x * line[j]).sum::<f64>();
    a.iter().map(|row| (0..b[0].len()).map(|j| cell(row, j)).collect()).collect()
}

/// World matrices, inverses, normal matrices, bounds and determinants of instances under their parents.
pub(super) fn mat4_inverse(inputs: &Inputs) -> Vec<Expected> {
    let count = inputs.words(0)[0] as usize;
    let (instances, parents) = (inputs.floats(1), inputs.floats(2));
    let mut words = Vec::new();
    for index in 0..count {
        let columns = &parents[16 * index..][..16];
        let mut parent: Matrix =
            (0..4).map(|row| (0..4).map(|column| columns[4 * column + row]).collect()).collect();
        parent[3] = vec![0.0, 0.0, 0.0, 1.0];
        for (axis, row) in parent.iter_mut().enumerate().take(3) {
            row[axis] += 2.5;
        }
        let world = product(&parent, &compose(&instances[12 * index..][..12]));
        let (inverse, determinant, _) = gauss_jordan(&world);
        let error = 4e-7 * norm(&world) * norm(&inverse) * norm(&inverse);

        let by_column = |matrix: &Matrix, within: f64| -> Vec<Word> {
            (0..16).map(|i| Word::Float { value: matrix[i % 4][i / 4], within }).collect()
        };
        words.extend(by_column(&world, 1e-5));
        words.extend(by_column(&inverse, error));
        for inverse_row in inverse.iter().take(3) {
            // The inverse transposed: its column is the inverse's row.
            words.extend((0..3).map(|row| Word::Float { value: inverse_row[row], within: error }));
            words.push(Word::Any);
        }
        let reach: Vec<f64> =
            (0..3).map(|row| 0.5 * world[row][..3].iter().map(|v| v.abs()).sum::<f64>()).collect();
        let edge = |sign: f64| (0..3).map(move |row| (row, sign));
        let edges = |sign| {
            edge(sign)
                .map(|(row, s)| Word::Float { value: world[row][3] + s * reach[row], within: 1e-5 })
        };
        words.extend(edges(-1.0).collect::<Vec<_>>());
        words.push(Word::near(determinant, 2e-6, norm(&world).powi(3)));
        words.extend(edges(1.0).collect::<Vec<_>>());
        words.push(if determinant.abs() > 1e-4 { Word::Exact(1) } else { Word::Any });
    }
    vec![Expected { binding: 3, words }]
}

/// One kick-drift-kick step of all bodies in a reflecting box, and their energies.
pub(super) fn nbody(inputs: &Inputs) -> Vec<Expected> {
    let count = inputs.words(0)[0] as usize;
    let params = inputs.floats(0);
    let (dt, softening, gravity) = (params[1], params[2], params[3]);
    let bodies = inputs.floats(1);
    let body = |i: usize| &bodies[8 * i..8 * i + 8];
    let mut after = Vec::new();
    let mut energy = Vec::new();
    for i in 0..count {
        let me = body(i);
        let (mut pull, mut potential, mut nearest) = ([0.0; 3], 0.0, f64::INFINITY);
        let mut strongest = 0.0;
        for j in (0..count).filter(|j| *j != i) {
            let d: Vec<f64> = (0..3).map(|k| body(j)[k] - me[k]).collect();
            let r2: f64 = d.iter().map(|v| v * v).sum();
            let r = (r2 + softening * softening).sqrt();
            for k in 0..3 {
                pull[k] += gravity * body(j)[3] * d[k] / r.powi(3);
            }
            strongest += gravity * body(j)[3] / (r * r);
            potential -= body(j)[3] / r;
            nearest = nearest.min(r2);
        }
        let mut position = [0.0; 3];
        let mut velocity = [0.0; 3];
        for k in 0..3 {
            let kicked = me[4 + k] + 0.5 * dt * pull[k];
            position[k] = me[k] + dt * kicked;
            let turned = if position[k].abs() > 2.0 { -kicked } else { kicked };
            position[k] = position[k].clamp(-2.0, 2.0);
            velocity[k] = turned + 0.5 * dt * pull[k];
        }
        let speed = velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
        let moved = Word::near(0.0, 2e-6, 1.0 + dt * strongest);
        let Word::Float { within, .. } = moved else { continue };
        after.extend(position.map(|value| Word::Float { value, within }));
        after.push(Word::near(me[3], 0.0, 0.0));
        after.extend(velocity.map(|value| Word::Float { value, within }));
        after.push(Word::near(me[7], 0.0, 0.0));
        let kinetic = 0.5 * me[3] * speed * speed;
        energy.extend([
            Word::Float { value: kinetic, within: 4.0 * within * (1.0 + speed) * me[3] },
            // The body's own term, mass / softening, is added and taken out again.
            Word::near(
                0.5 * gravity * me[3] * potential,
                4e-6,
                gravity * me[3] * me[3] / softening,
            ),
            Word::Float { value: me[3] * speed, within: 4.0 * within * me[3] },
            Word::near(nearest.sqrt(), 1e-5, 0.0),
        ]);
    }
    vec![Expected { binding: 2, words: after }, Expected { binding: 3, words: energy }]
}

/// The nine velocities, each moving one's opposite beside it.
const LINKS: [(i64, i64); 9] =
    [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (-1, 1), (1, -1)];
const OPPOSITE: [usize; 9] = [0, 2, 1, 4, 3, 6, 5, 8, 7];

/// One step of a fluid: streaming with bounce-back, collision with two relaxation rates, a body force.
pub(super) fn lattice_boltzmann(inputs: &Inputs) -> Vec<Expected> {
    let size = inputs.words(0);
    let (width, height) = (i64::from(size[0]), i64::from(size[1]));
    let params = inputs.floats(0);
    let (even_rate, odd_rate, force) = (params[2], params[3], [params[4], params[5]]);
    let (walls, before) = (inputs.words(1), inputs.floats(2));
    let cells = (width * height) as usize;
    let at = |x: i64, y: i64| (y.rem_euclid(height) * width + x.rem_euclid(width)) as usize;
    let mut after: Vec<Word> = before.iter().map(|v| Word::near(*v, 0.0, 0.0)).collect();
    let mut fields = vec![Word::near(0.0, 0.0, 0.0); 4 * cells];
    for here in (0..cells).filter(|cell| walls[*cell] == 0) {
        let (x, y) = (here as i64 % width, here as i64 / width);
        let f: [f64; 9] = std::array::from_fn(|d| {
            let source = at(x - LINKS[d].0, y - LINKS[d].1);
            if walls[source] != 0 {
                before[OPPOSITE[d] * cells + here]
            } else {
                before[d * cells + source]
            }
        });
        let density: f64 = f.iter().sum();
        let flow = |axis: fn(&(i64, i64)) -> i64| {
            LINKS.iter().zip(f).map(|(l, v)| axis(l) as f64 * v).sum::<f64>()
        };
        let u =
            [flow(|l| l.0) / density + 0.5 * force[0], flow(|l| l.1) / density + 0.5 * force[1]];
        let along = |d: usize, v: [f64; 2]| LINKS[d].0 as f64 * v[0] + LINKS[d].1 as f64 * v[1];
        let weight = |d: usize| {
            [4.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0][(LINKS[d].0.abs() + LINKS[d].1.abs()) as usize]
        };
        let rest: [f64; 9] = std::array::from_fn(|d| {
            let c = along(d, u);
            weight(d) * density * (1.0 + 3.0 * c + 4.5 * c * c - 1.5 * (u[0] * u[0] + u[1] * u[1]))
        });
        for d in 0..9 {
            let o = OPPOSITE[d];
            let even = (f[d] + f[o] - rest[d] - rest[o]) / 2.0;
            let odd = (f[d] - f[o] - rest[d] + rest[o]) / 2.0;
            let drive = 3.0 * weight(d) * density * along(d, force);
            after[d * cells + here] =
                Word::near(f[d] - even_rate * even - odd_rate * odd + drive, 1e-6, 1.0);
        }
        let flux = f[5] + f[6] - f[7] - f[8] - density * u[0] * u[1];
        for (slot, value) in [density, u[0], u[1], flux].into_iter().enumerate() {
            fields[4 * here + slot] = Word::near(value, 1e-6, 1.0);
        }
    }
    vec![Expected { binding: 3, words: after }, Expected { binding: 4, words: fields }]
}

#[cfg(test)]
mod tests {
    use super::super::RunLine;
    use super::*;

    #[test]
    fn gauss_jordan_inverts() {
        let matrix = vec![vec![0.0, 2.0, 1.0], vec![1.0, -1.0, 0.5], vec![3.0, 0.0, -2.0]];
        let (inverse, determinant, _) = gauss_jordan(&matrix);
        assert!((determinant - 10.0).abs() < 1e-12, "{determinant}");
        for (i, row) in product(&matrix, &inverse).into_iter().enumerate() {
            for (j, value) in row.into_iter().enumerate() {
                assert!((value - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_quarter_turn_about_z() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let matrix = compose(&[5.0, 6.0, 7.0, 0.0, 0.0, 0.0, half, half, 2.0, 3.0, 4.0, 0.0]);
        let expected = [
            [0.0, -3.0, 0.0, 5.0],
            [2.0, 0.0, 0.0, 6.0],
            [0.0, 0.0, 4.0, 7.0],
            [0.0, 0.0, 0.0, 1.0],
        ];
        for (row, want) in matrix.iter().zip(expected) {
            assert!(row.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{matrix:?}");
        }
    }

    fn values(expected: &Expected) -> Vec<f64> {
        let value = |word: &Word| match word {
            Word::Float { value, .. } => *value,
            other => panic!("{other:?}"),
        };
        expected.words.iter().map(value).collect()
    }

    /// Gravity is mutual: the step changes no momentum.
    #[test]
    fn bodies_keep_their_momentum() {
        let line =
            "groups=1,1,1 0.0=1*u32(9)+1*f32(0.01)+1*f32(0.1)+1*f32(0.7) 0.1=72*f32(0.1..1.5)";
        let inputs = RunLine::parse(line).unwrap().inputs(4);
        let (before, after) = (inputs.floats(1), values(&nbody(&inputs)[0]));
        let momentum = |bodies: &[f64], axis: usize| {
            bodies.chunks_exact(8).map(|b| b[3] * b[4 + axis]).sum::<f64>()
        };
        for axis in 0..3 {
            assert!((momentum(&before, axis) - momentum(&after, axis)).abs() < 1e-12);
        }
    }

    /// Without walls and force, streaming and collision keep mass and momentum.
    #[test]
    fn fluid_keeps_mass_and_momentum() {
        let line = "groups=1,1,1 0.0=1*u32(5)+1*u32(4)+1*f32(0.8)+1*f32(1.3)+4*zero 0.1=20*zero 0.2=180*f32(0.05..0.2)";
        let inputs = RunLine::parse(line).unwrap().inputs(8);
        let (before, after) = (inputs.floats(2), values(&lattice_boltzmann(&inputs)[0]));
        for weigh in [|_: (i64, i64)| 1, |link: (i64, i64)| link.0, |link: (i64, i64)| link.1] {
            let total = |f: &[f64]| {
                f.iter().enumerate().map(|(i, v)| v * weigh(LINKS[i / 20]) as f64).sum::<f64>()
            };
            assert!((total(&before) - total(&after)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_small_product_by_hand() {
        let line = "groups=1,1,1 0.0=1*u32(1)+1*u32(2)+1*u32(2)+1*u32(0)+1*f32(2)+1*f32(1)+2*zero \
            0.1=1*f32(1)+1*f32(3) 0.2=1*f32(5)+1*f32(7)+1*f32(11)+1*f32(13) 0.3=1*f32(0.5)+1*f32(0) 0.4=1*f32(1)+1*f32(-1)";
        let inputs = RunLine::parse(line).unwrap().inputs(0);
        assert_eq!(values(&matmul(&inputs)[0]), [2.0 * 38.0 + 1.5, 2.0 * 46.0 - 1.0]);
    }
}
