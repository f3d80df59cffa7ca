/** The bureaus' answers with 200 trades that one core reads into credit files, beside the XML parser alone. */
import { findPersona, writeAnswer } from '@creditlane/bureau-simulator/personas';
import {
  FORMATS,
  type FormatName,
  inquiryAbout,
  readAnswer,
} from '@creditlane/credit-file/test-formats';
import { SaxesParser } from 'saxes';
import type { Bench } from '../harness.ts';

const PERSON = { firstName: 'Thea', lastName: 'Thick' };
const SIN = '046454286';
const DATE_OF_BIRTH = '1976-02-29';
const INQUIRY = inquiryAbout({ subject: { ...PERSON, sin: SIN, dateOfBirth: DATE_OF_BIRTH } });
const TRADES = 200;
/** A symmetric order, so that a machine that becomes slower or faster affects both alike. */
const TURNS = ['parse', 'read', 'read', 'parse'] as const;

/** One thread reads the same answer again and again, in turns with the XML parser, which keeps nothing of the answer. */
export default async function measure(bench: Bench): Promise<void> {
  const { warmUpMs, measureMs } = bench.plan;
  for (const name of ['equifax', 'transunion'] satisfies FormatName[]) {
    const { source } = FORMATS[name];
    const body = Buffer.from(thickAnswer(source));
    const answer = readAnswer(name, body, INQUIRY);
    if (answer.kind !== 'file' || answer.file.trades?.length !== TRADES) {
      throw new Error(`the answer of ${source} gives no file with ${TRADES} trades`);
    }
    const work = { parse: () => parse(body), read: () => void readAnswer(name, body, INQUIRY) };
    for (const turn of TURNS) countPerSecond(work[turn], warmUpMs / TURNS.length);
    const rates = TURNS.map((turn) => countPerSecond(work[turn], measureMs / TURNS.length));
    const [first = 0, second = 0, third = 0, fourth = 0] = rates;
    const parsed = (first + fourth) / 2;
    const read = (second + third) / 2;
    bench.figure(`${name}: an answer with ${TRADES} trades`, body.length / 1_000, 'KB');
    bench.figure(`${name}: XML parser alone`, parsed, '/s');
    bench.figure(`${name}: read into a credit file`, read, '/s');
    bench.figure(`${name}:   as a share of the parser alone`, (read / parsed) * 100, '%');
  }
}

function thickAnswer(source: 'EQUIFAX' | 'TRANSUNION'): string {
  const inquiry = {
    ...{ source, ...PERSON, reference: 'b1', requestNumber: '1', member: '999ZB12345', sin: SIN },
    ...{ dateOfBirth: DATE_OF_BIRTH, date: '2026-11-22' },
  };
  return writeAnswer(inquiry, findPersona(source, PERSON));
}

function parse(body: Uint8Array): void {
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(new TextDecoder('utf-8', { fatal: true }).decode(body)).close();
}

/** How often `work` is done in a second of this process's CPU time, garbage collection included. */
function countPerSecond(work: () => void, durationMs: number): number {
  const start = process.cpuUsage();
  const endMs = performance.now() + durationMs;
  let count = 0;
  do {
    work();
    count += 1;
  } while (performance.now() < endMs);
  const { user, system } = process.cpuUsage(start);
  return count / ((user + system) / 1_000_000);
}
