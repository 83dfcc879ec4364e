// The rank of a choice that is ordered: its position among the declared ones. It is an expression on the column, which holds
// the word, so that choices can be added and reordered without writing rows. Indexes contain the expression.

import { type RawBuilder, sql } from "kysely";

/**
 * The rank in SQL. A word that is no longer declared comes before all others, and null has none.
 *
 * The text must be the same in indexes and statements. The last case is a comparison rather than `else`, so that null stays
 * null without a test for it, which PostgreSQL would simplify in one of the two.
 */
export function choiceRank(column: RawBuilder<unknown>, choices: readonly string[]): RawBuilder<unknown> {
  const cases = choices.map((choice, rank) => sql`when ${sql.lit(choice)} then ${sql.lit(rank)}`);
  return sql`(case ${column} ${sql.join(cases, sql` `)} when ${column} then -1 end)`;
}
