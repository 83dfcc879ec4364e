// The script of the reference pages. Without it, the pages can be read; with it, they can be searched, and requests can be
// sent.

import { keepPage } from "./navigation.js";
import { addRequestForms } from "./request-form.js";
import { addTabs } from "./samples.js";
import { startSearch } from "./search.js";

/** Prepares the content of a page. */
function prepare() {
  addTabs();
  addRequestForms();
}

prepare();
startSearch(keepPage(prepare));
