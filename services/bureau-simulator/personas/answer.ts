/** The XML that answers an inquiry with files. */
import { writeEquifaxAnswer } from '../equifax/answer.ts';
import { writeTransUnionAnswer } from '../transunion/answer.ts';
import { makeOrdinaryFile } from './files/ordinary-file.ts';
import type { ReceivedInquiry } from './inquiry.ts';
import type { Behaviour } from './persona.ts';

type FileBehaviour = Extract<Behaviour, { kind: 'file' }>;

/** The behaviour to a name that is no persona's. */
export const ORDINARY: FileBehaviour = {
  kind: 'file',
  makeFiles: (inquiry) => [makeOrdinaryFile(inquiry)],
};

/** The XML of the files, in the wire format of the bureau that was asked. */
export function writeFiles(inquiry: ReceivedInquiry, behaviour: FileBehaviour): string {
  const [file, ...otherFiles] = behaviour.makeFiles(inquiry);
  const { reference } = inquiry;
  const xml =
    inquiry.source === 'EQUIFAX'
      ? writeEquifaxAnswer(file, { reference, otherFiles })
      : writeTransUnionAnswer(file, {
          reference,
          envelope: behaviour.isBare ? 'root' : 'soap',
        });
  return behaviour.alter?.(xml) ?? xml;
}
