// What the tests of the documentation page run within the page. Each function is sent there by its text alone, so
// it uses nothing but its arguments and what a browser has.

/**
 * Opens every section of the side bar, and makes the page so small that the browser shows all of it: the page fills
 * in the sections that are in view. Resolves to the ids of the operations and webhooks once each has a code block.
 */
export async function showEverySection(count) {
  document.documentElement.style.zoom = '0.04';
  for (const button of document.querySelectorAll('aside button[aria-expanded=false]')) {
    if (button.textContent.trim().startsWith('Open Group')) button.click();
  }
  for (;;) {
    const leaves = [...document.querySelectorAll('aside li[data-sidebar-id*="/tag/"]')];
    const ids = leaves
      .filter((it) => it.querySelector('button, ul') === null)
      .map((it) => it.dataset.sidebarId);
    const isShown = (id) => document.querySelector(`section[id="${id}"] .scalar-card pre`) !== null;
    if (ids.length >= count && ids.every(isShown)) {
      // What was filled in stays; from here on, less of the page has to be painted.
      document.documentElement.style.zoom = '';
      return ids;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** By its id, the text of each section's first code block outside its description. */
export function readFirstBlocks(ids) {
  return ids.map((id) => [
    id,
    document.querySelector(`section[id="${id}"] .scalar-card pre`)?.textContent.trimEnd(),
  ]);
}

/** Chooses a language in the list of a section: the choice is that of all sections that have the language. */
export async function chooseLanguage({ id, label }) {
  const buttons = document.querySelectorAll(
    `section[id="${id}"] [id^="headlessui-popover-button"]`,
  );
  [...buttons].at(-1).click();
  for (;;) {
    const options = [...document.querySelectorAll('[role=option]')];
    const option = options.find((it) => it.textContent.trim() === label);
    if (option !== undefined) {
      option.click();
      await new Promise((resolve) => setTimeout(resolve, 50));
      return options.map((it) => it.textContent.trim());
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * The first example of an answer, and the names in the list of its examples; no names without a list. The other
 * examples are not chosen: that would change the choice of all sections, which takes a second each.
 */
export async function readAnswer({ id, status }) {
  const pause = () => new Promise((resolve) => setTimeout(resolve));
  const section = document.querySelector(`section[id="${id}"]`);
  const tabs = [...section.querySelectorAll('[role=tab]')];
  const tab = tabs.find((it) => it.textContent.trim().endsWith(status));
  tab.click();
  await pause();
  const first = [...section.querySelectorAll('pre')].at(-1).textContent.trimEnd();
  const picker = [...section.querySelectorAll('[data-testid=example-picker]')].find(
    (it) => tab.compareDocumentPosition(it) === Node.DOCUMENT_POSITION_FOLLOWING,
  );
  if (picker === undefined) return { first, names: [] };
  picker.click();
  while (document.querySelector('[role=option]') === null) await pause();
  const names = [...document.querySelectorAll('[role=option]')].map((it) => it.textContent.trim());
  picker.click();
  while (document.querySelector('[role=option]') !== null) await pause();
  return { first, names };
}
