//! Static token embeddings: a vector a token, and the mean of a text's vectors as its meaning.
//!
//! The layout is model2vec's (Tulkens and van Dongen, *Model2Vec*, 2024): `model.safetensors` with one matrix of a row a
//! token, and `tokenizer.json`. A token is weighted by its idf among the tools, as in Arora, Liang and Ma, *A Simple but
//! Tough-to-Beat Baseline for Sentence Embeddings* (ICLR 2017).
//! Invariant: the folder is read and nothing is downloaded.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use safetensors::{Dtype, SafeTensors};
use tokenizers::Tokenizer;

use super::{DEPTH, Tool, parameters};

/// Characters of a description that are read: what comes later is detail.
const DESCRIPTION: usize = 300;
/// What the parameters' names count beside name and description.
const PARAMETERS: f32 = 0.3;

/// A tokenizer and its vectors.
pub struct Model {
    tokenizer: Tokenizer,
    vectors: Vec<f32>,
    dimensions: usize,
}

/// The tools as vectors of length 1.
pub struct Embedded {
    model: Model,
    idf: HashMap<u32, f32>,
    /// The idf of a token that no tool has.
    rarest: f32,
    tools: Vec<Vec<f32>>,
}

impl Model {
    /// Reads a folder in the model2vec layout.
    ///
    /// # Errors
    /// Names the file that is missing or of another form.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join("tokenizer.json");
        let tokenizer = Tokenizer::from_file(&path).map_err(anyhow::Error::from_boxed);
        let mut tokenizer = tokenizer.with_context(|| format!("reading {}", path.display()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(anyhow::Error::from_boxed)?;
        let path = folder.join("model.safetensors");
        let bytes = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let (vectors, dimensions) =
            matrix(&bytes).with_context(|| format!("in {}", path.display()))?;
        let rows = vectors.len() / dimensions;
        let tokens = tokenizer.get_vocab_size(true);
        ensure!(
            tokens <= rows,
            "the tokenizer in {} has {tokens} tokens and the matrix {rows} rows; take both from one model",
            folder.display()
        );
        Ok(Self {
            tokenizer,
            vectors,
            dimensions,
        })
    }

    fn tokens(&self, text: &str) -> Vec<u32> {
        let words = super::tokens::joined(text, " ");
        let encoded = self.tokenizer.encode_fast(words, false);
        encoded.map_or_else(|_| Vec::new(), |encoded| encoded.get_ids().to_vec())
    }
}

impl Embedded {
    /// The vectors of these tools.
    pub fn new(model: Model, tools: &[Tool]) -> Self {
        let texts: Vec<[Vec<u32>; 3]> = tools.iter().map(|tool| texts(&model, tool)).collect();
        let mut with: HashMap<u32, usize> = HashMap::new();
        for [_, whole, _] in &texts {
            for token in whole.iter().collect::<BTreeSet<_>>() {
                *with.entry(*token).or_default() += 1;
            }
        }
        let count = tools.len() as f32;
        let idf = |n: f32| (1.0 + (count - n + 0.5) / (n + 0.5)).ln();
        let mut embedded = Self {
            model,
            idf: with.into_iter().map(|(token, n)| (token, idf(n as f32))).collect(),
            rarest: idf(0.0),
            tools: Vec::new(),
        };
        let vector = |[name, whole, parameters]: &[Vec<u32>; 3]| {
            let mut sum = vec![0.0; embedded.model.dimensions];
            for (tokens, weight) in [(name, 1.0), (whole, 1.0), (parameters, PARAMETERS)] {
                let part = embedded.vector(tokens);
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += weight * part);
            }
            unit(sum)
        };
        embedded.tools = texts.iter().map(vector).collect();
        embedded
    }

    /// The cosine of each tool with a query.
    pub fn scores(&self, query: &str) -> Vec<f32> {
        let query = self.vector(&self.model.tokens(query));
        let cosine = |tool: &Vec<f32>| tool.iter().zip(&query).map(|(a, b)| a * b).sum();
        self.tools.iter().map(cosine).collect()
    }

    fn vector(&self, tokens: &[u32]) -> Vec<f32> {
        let dimensions = self.model.dimensions;
        let mut sum = vec![0.0; dimensions];
        for token in tokens {
            let idf = self.idf.get(token).copied().unwrap_or(self.rarest);
            let row = *token as usize * dimensions;
            let vector = &self.model.vectors[row..row + dimensions];
            sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += idf * value);
        }
        unit(sum)
    }
}

/// The tokens of name, of name and description, and of the parameters' names.
fn texts(model: &Model, tool: &Tool) -> [Vec<u32>; 3] {
    let description: String = tool.description.chars().take(DESCRIPTION).collect();
    let mut names = String::new();
    parameters(&tool.input_schema, DEPTH, &mut |name, _| names += &format!(" {name}"));
    let whole = format!("{}. {description}", tool.name);
    [&tool.name, &whole, &names].map(|text| model.tokens(text))
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

/// The matrix of the file's first tensor, by rows, and their length.
fn matrix(bytes: &[u8]) -> Result<(Vec<f32>, usize)> {
    let tensors = SafeTensors::deserialize(bytes)?;
    let Some((name, tensor)) = tensors.iter().find(|(_, tensor)| tensor.shape().len() == 2) else {
        bail!("there is no matrix of embeddings");
    };
    let data = tensor.data();
    let vectors = match tensor.dtype() {
        Dtype::F32 => {
            data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
        }
        Dtype::F16 => {
            data.chunks_exact(2).map(|b| half(u16::from_le_bytes([b[0], b[1]]))).collect()
        }
        other => bail!("the matrix {name} is of {other:?}; F32 and F16 are read"),
    };
    ensure!(tensor.shape()[1] > 0, "the rows of the matrix {name} are empty");
    Ok((vectors, tensor.shape()[1]))
}

/// A half-precision number (IEEE 754 binary16) as a single one.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    sign * if exponent == 0 {
        fraction * 2.0_f32.powi(-14)
    } else {
        (1.0 + fraction) * 2.0_f32.powi(exponent - 15)
    }
}
