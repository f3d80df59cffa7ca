/** What every format does with the bytes of an answer. */
import type { BureauAnswer, BureauFormat, Inquiry, RefusalReason } from '../bureau.ts';
import type { CodeTables } from './code-tables.ts';
import { findElement } from './find-element.ts';
import { readXml, type XmlElement, XmlError } from './xml-document.ts';

const MAX_CODE_LENGTH = 40;
const MAX_ERRORS = 20;
/** The name of an element, or a path of such names: nothing that could say who the person is. */
const ELEMENT_NAME = /^[A-Za-z_][A-Za-z_./:-]{0,79}$/;

/**
 * What the format reads in the body of an answer, whatever its bytes are. Malformed whenever that fails: an error would leave
 * open whether the bureau has answered.
 * @param inquiry what was sent
 * @param charset that of the Content-Type, if it names one
 */
export function readAnswer(
  body: Uint8Array,
  format: Pick<BureauFormat<never>, 'readRoot'>,
  inquiry: Inquiry,
  charset?: string,
): BureauAnswer {
  try {
    const root = readXml(body, charset);
    const fault = findElement(root, 'Body/Fault');
    return root.name === 'Envelope' && fault !== undefined
      ? readFault(fault)
      : format.readRoot(root, inquiry);
  } catch (error) {
    if (error instanceof XmlError) return malformed(`The answer ${error.message}.`);
    // The message may hold parts of the answer.
    return malformed(
      `The answer cannot be read: ${error instanceof Error ? error.name : 'unknown'}.`,
    );
  }
}

/**
 * A fault of the client says that the message is wrong, so that it was not carried out (SOAP 1.1, 4.4.1; SOAP
 * 1.2, 5.4.6). Any other leaves that open.
 */
function readFault(fault: XmlElement): BureauAnswer {
  const code = (findElement(fault, 'faultcode') ?? findElement(fault, 'Code/Value'))?.text.trim();
  const name = code?.slice(code.indexOf(':') + 1) ?? '';
  if (!/^(Client|Sender)(\.|$)/.test(name)) return malformed('The answer is a SOAP fault.');
  return { kind: 'refused', reason: 'rejected', code: cutCode(`SOAP_${name}`) };
}

/** An error as the bureau writes it. */
interface ReadError {
  readonly code: string;
  readonly detail?: string | undefined;
}

/** Of several errors the one with the most lasting reason decides. */
const REASONS: readonly RefusalReason[] = ['credentials', 'rejected', 'unavailable'];

/**
 * A refusal with these errors, of which there is one at least; the one that decides comes first. The bureau's own words for
 * them are not read, because they may repeat the inquiry. Of an error's additional information, the name of an element is kept.
 */
export function refusedBy(tables: CodeTables, errors: readonly ReadError[]): BureauAnswer {
  const reasonOf = ({ code }: ReadError) => refusalReason(tables, code);
  const reason = REASONS.find((it) => errors.some((error) => reasonOf(error) === it)) ?? 'rejected';
  const rank = (error: ReadError) => (reasonOf(error) === reason ? 0 : 1);
  const kept = errors
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MAX_ERRORS)
    .map(({ code, detail }) => {
      const element = detail?.trim() ?? '';
      return { code: cutCode(code), ...(ELEMENT_NAME.test(element) && { element }) };
    });
  return { kind: 'refused', reason, code: kept[0]?.code ?? '', errors: kept };
}

function cutCode(code: string): string {
  return code.trim().slice(0, MAX_CODE_LENGTH);
}

/** Why the bureau refuses an inquiry with this code; an unknown code is about the inquiry. */
function refusalReason({ codes }: CodeTables, code: string): RefusalReason {
  const reason = codes.error.get(code.trim());
  return reason === 'credentials' || reason === 'unavailable' ? reason : 'rejected';
}

export function malformed(problem: string): BureauAnswer {
  return { kind: 'malformed', problem };
}
