/** The line of a street as Canada Post has it, whose words come in another order in French. */
import type { Address } from '@creditlane/proto/applications/v1/application';

const FRENCH_TYPES = new Set(
  (
    'ALLEE AUTOROUTE BOUL CARRE CERCLE CH CHEMIN COTE COUR COURS CROIS CROISSANT DOMAINE ECHANGEUR IMPASSE MONTEE ' +
    'PROM QUAI RANG ROND-POINT ROUTE RTE RUE RUELLE SENTIER TERRASSE TSSE VOIE'
  ).split(' '),
);
/** Types of both languages: French in Quebec. */
const COMMON_TYPES = new Set(
  'AV AVENUE BOULEVARD CONCESSION ESPLANADE PARC PASSAGE PL PLACE PLAZA PROMENADE'.split(' '),
);
/** "1re Avenue" has its type behind the number, in French, too. */
const FRENCH_ORDINAL = /^\d+(re|er|e|i?[eè]me)$/i;

/** "Rue Sainte-Catherine O", "Birch St NW"; empty without a street. */
export function streetLineOf({
  streetName,
  streetType,
  direction,
  province,
}: Pick<Address, 'streetName' | 'streetType' | 'direction' | 'province'>): string {
  const [name, type] = [streetName.trim(), streetType.trim()];
  const isFrench = isFrenchType(type, province);
  const words = isFrench && !FRENCH_ORDINAL.test(name) ? [type, name] : [name, type];
  return [...words, isFrench ? frenchDirectionOf(direction) : direction]
    .filter((word) => word !== '')
    .join(' ');
}

function isFrenchType(type: string, province: string): boolean {
  const word = type
    .normalize('NFD')
    .replace(/\p{Mark}|\./gu, '')
    .toUpperCase();
  return FRENCH_TYPES.has(word) || (province === 'QC' && COMMON_TYPES.has(word));
}

/** West is "ouest". */
function frenchDirectionOf(direction: string): string {
  return direction.replace('W', 'O');
}
