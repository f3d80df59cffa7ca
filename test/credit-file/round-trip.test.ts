// A credit file that a bureau's format can carry is the same after the simulator has written it and the
// credit-file service has read it.
import { writeEquifaxAnswer } from '@creditlane/bureau-simulator/equifax-answer';
import { writeTransUnionAnswer } from '@creditlane/bureau-simulator/transunion-answer';
import { inquiryAbout, readAnswer } from '@creditlane/credit-file/test-formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { equifaxFiles, transUnionFiles } from './generated-files.ts';

test('any file that Equifax’s format can carry is read as it was written', () => {
  fc.assert(
    fc.property(equifaxFiles, (file) => {
      const answer = readAnswer('equifax', writeEquifaxAnswer(file), inquiryAbout(file));
      expect({ ...answer, match: undefined }).toEqual({ kind: 'file', file, unknownCodes: [] });
    }),
    { numRuns: 100 },
  );
});

test.each(['soap', 'root'] as const)(
  'any file that TransUnion’s format can carry is read as it was written (%s)',
  (envelope) => {
    fc.assert(
      fc.property(transUnionFiles, (file) => {
        const body = writeTransUnionAnswer(file, { envelope });
        const answer = readAnswer('transunion', body, inquiryAbout(file));
        expect({ ...answer, match: undefined }).toEqual({ kind: 'file', file, unknownCodes: [] });
      }),
      { numRuns: 100 },
    );
  },
);
