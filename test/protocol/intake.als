/*
 * From a partition of the event bus to the consumer's tables.
 *
 * The members of a consumer group fetch the events of a partition after the committed offset, handle them in one
 * transaction with the rows of the inbox, and commit the offset afterwards, while they handle the next ones. The
 * partition may be assigned to another member, and a member may stop for ever, between any two steps: events then come
 * again.
 *
 * README.md names the function behind each step.
 */
module intake
open util/ordering[Event]

/** In the order of the partition. */
sig Event {}
/** The inbox has the event, and the consumer's tables its effects. */
var sig InInbox, Handled in Event {}
/** The effects were written more than once. */
var sig HandledTwice in Event {}
/** The committed offset is behind the event. */
var sig Passed in Event {}

sig Member {
  var batch: set Event,
  /** The events that the open transaction has found to be new. */
  var writing: set Event,
  /** The events that are handled, and whose offset is not committed yet. */
  var resolved: set Event,
}
/** The member's transaction is open, or has committed. */
var sig Open, Committed in Member {}
/** The member that has the partition; the cluster refuses the offsets of any other. */
one sig Partition { var owner: lone Member }

/** Seeded bugs. Each is found by a check below. */
abstract sig Bug {}
lone sig OffsetsBeforeTheTransaction, InboxOutsideTheTransaction, InboxWithoutUniqueRows,
  FetchAfterTheOffset extends Bug {}

pred tablesStay { InInbox' = InInbox and Handled' = Handled and HandledTwice' = HandledTwice }
pred memberStays[m: Member] {
  m.batch' = m.batch and m.writing' = m.writing and m.resolved' = m.resolved
  (m in Open' iff m in Open) and (m in Committed' iff m in Committed)
}
pred only[m: Member] { all other: Member - m | memberStays[other] }

pred rebalance[m: Member] {
  owner' = Partition -> m
  tablesStay and Passed' = Passed and all any: Member | memberStays[any]
}

pred fetch[m: Member, last: Event] {
  m = Partition.owner and no m.batch and last not in Passed + m.resolved
  m.batch' = (last + (some FetchAfterTheOffset => none else last.prevs)) - Passed - m.resolved
  m.resolved' = m.resolved
  no m.writing' and m not in Open' and m not in Committed'
  tablesStay and Passed' = Passed and owner' = owner and only[m]
}

/** Inserts the ids of the batch. The unique index makes a transaction wait for another one that inserts the same. */
pred insertNew[m: Member] {
  some m.batch and m not in Open + Committed
  some InboxWithoutUniqueRows or no m.batch & Open.writing
  m.writing' = m.batch - InInbox
  InInbox' = InInbox + (some InboxOutsideTheTransaction => m.writing' else none)
  m in Open' and m not in Committed' and m.batch' = m.batch and m.resolved' = m.resolved
  Handled' = Handled and HandledTwice' = HandledTwice and Passed' = Passed and owner' = owner and only[m]
}

/** The effects and the rows of the inbox become visible together. */
pred commit[m: Member] {
  m in Open
  InInbox' = InInbox + m.writing and Handled' = Handled + m.writing
  HandledTwice' = HandledTwice + (m.writing & Handled)
  m not in Open' and m in Committed' and m.batch' = m.batch and no m.writing' and m.resolved' = m.resolved
  Passed' = Passed and owner' = owner and only[m]
}

/** The batch has ended: the member may fetch the next one. */
pred resolve[m: Member] {
  m in Committed
  m.resolved' = m.resolved + m.batch and no m.batch' and no m.writing' and m not in Open' + Committed'
  tablesStay and Passed' = Passed and owner' = owner and only[m]
}

/** The member commits the offset of what it has handled, also while it handles the next batch. */
pred commitOffset[m: Member] {
  some m.resolved and m = Partition.owner
  Passed' = Passed + m.resolved and no m.resolved'
  m.batch' = m.batch and m.writing' = m.writing and (m in Open' iff m in Open) and (m in Committed' iff m in Committed)
  tablesStay and owner' = owner and only[m]
}

/** Seeded: the offset is committed before the transaction. */
pred commitEarly[m: Member] {
  some OffsetsBeforeTheTransaction and some m.batch and m = Partition.owner
  Passed' = Passed + m.batch and memberStays[m]
  tablesStay and owner' = owner and only[m]
}

/** The member dies, or gives its batch up because it has lost the partition; an open transaction is rolled back. */
pred crash[m: Member] {
  no m.batch' and no m.writing' and no m.resolved' and m not in Open' + Committed'
  tablesStay and Passed' = Passed and owner' = owner and only[m]
}

pred nothing { tablesStay and Passed' = Passed and owner' = owner and all m: Member | memberStays[m] }

fact Steps {
  no InInbox + Handled + HandledTwice + Passed and no batch + writing + resolved and no Open + Committed and no owner
  always {
    nothing
    or (some m: Member | rebalance[m] or insertNew[m] or commit[m] or resolve[m] or commitOffset[m])
    or (some m: Member | commitEarly[m] or crash[m])
    or (some m: Member, e: Event | fetch[m, e])
  }
}

/** What the group does not fetch again is handled. */
assert NoEventIsLost { always Passed in Handled }

assert EachEventIsHandledOnce { always no HandledTwice }

/** An event is handled with or after the earlier ones of its partition. */
assert EventsAreHandledInOrder { always Handled.prevs in Handled }

check NoEventIsLost for 3 but 2 Member, 0 Bug, 11..11 steps expect 0 // large: for 4 but 3 Member, 0 Bug, 14..14 steps
check EachEventIsHandledOnce for 3 but 2 Member, 0 Bug, 11..11 steps expect 0 // large: for 4 but 3 Member, 0 Bug, 14..14 steps
check EventsAreHandledInOrder for 3 but 2 Member, 0 Bug, 11..11 steps expect 0 // large: for 4 but 3 Member, 0 Bug, 14..14 steps

/* Each check finds its seeded bugs. */
check NoEventIsLost for 2 but 1 Bug, exactly 1 OffsetsBeforeTheTransaction, 8..8 steps expect 1
check NoEventIsLost for 2 but 1 Bug, exactly 1 InboxOutsideTheTransaction, 10..10 steps expect 1
check EachEventIsHandledOnce for 2 but 1 Bug, exactly 1 InboxWithoutUniqueRows, 10..10 steps expect 1
check EventsAreHandledInOrder for 2 but 1 Bug, exactly 1 FetchAfterTheOffset, 8..8 steps expect 1
