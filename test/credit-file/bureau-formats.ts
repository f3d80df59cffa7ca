/** The formats of both bureaus with the settings of a new installation. */
import { readCodeTables } from '@creditlane/credit-file/code-tables';
import { equifaxFormat } from '@creditlane/credit-file/equifax-format';
import { transUnionFormat } from '@creditlane/credit-file/transunion-format';

const { equifax, transUnion } = readCodeTables();
const REQUEST_TEMPLATE =
  '<r>{{memberCode}}{{password}}{{firstName}}{{lastName}}{{dateOfBirth}}</r>';

const FORMATS = {
  EQUIFAX: equifaxFormat({ tables: equifax, partialDateDay: 1, reportRule: 'FIRST_HIT' }),
  TRANSUNION: transUnionFormat({
    tables: transUnion,
    partialDateDay: 1,
    requestTemplate: REQUEST_TEMPLATE,
  }),
};

/** What the credit-file service makes of an answer. */
export function readAnswer(source: keyof typeof FORMATS, xml: string) {
  return FORMATS[source].readAnswer(200, Buffer.from(xml));
}
