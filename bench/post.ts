// The posts that the bench writes: about 350 bytes as JSON, of similar size but with different words.

const words =
  "engine loom pattern number wheel card table note method proof letter press paper ink thread leaf flower " +
  "machine sequence science analysis memory result order figure author reader morning spring journey window";
const vocabulary = words.split(" ");
const statuses = ["draft", "published", "archived"] as const;

export interface Post {
  readonly title: string;
  readonly body: string;
  readonly status: (typeof statuses)[number];
}

/** The same post for the same number, so that runs are comparable. */
export function postOf(number: number): Post {
  return {
    title: `${sentence(number, 4)} ${number}`,
    body: `${sentence(number + 1, 20)}.`,
    status: statuses[number % statuses.length]!,
  };
}

function sentence(seed: number, length: number): string {
  return Array.from({ length }, (_, index) => vocabulary[hashed(seed * 31 + index) % vocabulary.length]).join(
    " ",
  );
}

/** Knuth's multiplicative hash. */
function hashed(number: number): number {
  return Math.imul(number, 2_654_435_761) >>> 8;
}
