/** What a thread of the document renderer runs for each document. It keeps nothing of the file. */
export { drawCreditFile as default } from './draw-credit-file.ts';
