// The ids of the services that are written by hand: they grow, as those of Portico do, so that an index has them in the
// order of the inserts.

let count = 0;

export function newPostId(): string {
  count += 1;
  return `post_${Date.now().toString(36).padStart(10, "0")}${count.toString(36).padStart(16, "0")}`;
}
