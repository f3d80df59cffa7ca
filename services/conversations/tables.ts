/** The tables of the conversations service. */
import { EntitySchema } from 'typeorm';

/** The conversation of a submission that has a comment. `last_seq` is the sequence of the latest one. */
const conversations = new EntitySchema({
  name: 'conversations',
  columns: {
    application_id: { type: 'uuid', primary: true },
    creditor_id: { type: 'uuid', primary: true },
    retailer_id: { type: 'uuid' },
    last_seq: { type: 'integer' },
  },
});

/**
 * Comments, numbered 1, 2, 3 … in each conversation by `seq`; rows are never deleted. `sealed` is an
 * encrypted Comment message that holds the text and the author's name. `delivered_at` is null until an
 * integration of the other side has read the comment, and never changes afterwards.
 */
const comments = new EntitySchema({
  name: 'comments',
  columns: {
    id: { type: 'uuid', primary: true },
    application_id: { type: 'uuid' },
    creditor_id: { type: 'uuid' },
    seq: { type: 'integer' },
    side: { type: 'text' },
    integration_id: { type: 'uuid' },
    author_user_id: { type: 'uuid', nullable: true },
    sealed: { type: 'bytea' },
    sealed_with: { type: 'text' },
    created_at: { type: 'timestamptz' },
    delivered_at: { type: 'timestamptz', nullable: true },
    delivered_to_integration_id: { type: 'uuid', nullable: true },
  },
  indices: [
    { name: 'comments_sequence', columns: ['application_id', 'creditor_id', 'seq'], unique: true },
    { name: 'comments_sealed_with', columns: ['sealed_with'] },
  ],
});

/** All tables, for the data source. */
export const TABLES = [conversations, comments];
