/** For the tests: what a PDF reader finds in a document. */
import { getDocument, type PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

export interface ReadPdf {
  /** The text of each page, in the order in which it is printed. */
  pages: string[];
  /** The text of all pages. */
  text: string;
  /** Title, producer, dates and language, as the document's properties show them. */
  properties: Record<string, unknown>;
  isTagged: boolean;
  /** The types of the tags of each page, such as "H1" or "Table", in order. */
  tags: string[][];
  /** The alternative texts of the figures. */
  alternatives: string[];
}

type StructureNode = { role?: string; alt?: string; children?: StructureNode[] };

export async function readPdf(bytes: Uint8Array): Promise<ReadPdf> {
  // The reader takes the bytes for itself.
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
  const document = await task.promise;
  try {
    const numbers = Array.from({ length: document.numPages }, (_, index) => index + 1);
    const read = await Promise.all(
      numbers.map((number) => document.getPage(number).then(readPage)),
    );
    const { info } = await document.getMetadata();
    // A map, where the types of the library say an object.
    const mark: unknown = await document.getMarkInfo();
    const pages = read.map(({ text }) => text);
    return {
      pages,
      text: pages.join('\n'),
      properties: { ...info },
      isTagged: mark instanceof Map && mark.get('Marked') === true,
      tags: read.map(({ tags }) => tags.map(({ role }) => role ?? '')),
      alternatives: read.flatMap(({ tags }) => tags.flatMap(({ alt }) => alt ?? [])),
    };
  } finally {
    await task.destroy();
  }
}

async function readPage(page: PDFPageProxy) {
  const { items } = await page.getTextContent();
  const text = items.flatMap((item) => ('str' in item ? item.str : [])).join(' ');
  const tree = (await page.getStructTree()) as StructureNode | null;
  return { text: text.replaceAll(/ +/g, ' ').trim(), tags: tree === null ? [] : listNodes(tree) };
}

function listNodes(node: StructureNode): StructureNode[] {
  return [node, ...(node.children ?? []).flatMap(listNodes)];
}
