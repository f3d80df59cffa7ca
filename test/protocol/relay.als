/*
 * From a committed write to the event bus.
 *
 * Writers add events to the outbox under the row lock of their key. Relays publish one shard of the outbox: they
 * read what is unpublished, publish it in the order of the ids, and mark exactly those rows. A process may stop
 * for ever, or for longer than its lease, between any two steps. Kafka may lose its data once.
 *
 * README.md names the function behind each step.
 */
module relay
open util/ordering[Fence]

/** A submission: one row, whose lock its writers take. */
sig Key {}

sig Event {
  key: one Key,
  /** The events of its key with lower sequences. */
  var earlier: set Event,
  /** The events with lower outbox ids. */
  var lower: set Event,
  /** The events that were in the topic before this one came there first. */
  var ahead: set Event,
}
/** The event has an outbox id. */
var sig Numbered in Event {}
/** Its writer holds the row lock. */
var sig Locked in Event {}
/** Its caller has the answer 200. */
var sig Committed in Event {}
/** Its writer stopped before the commit. */
var sig RolledBack in Event {}
/** `published_at` is set. */
var sig Marked in Event {}
/** Consumers can read the event. */
var sig InTopic in Event {}

sig Fence {}
one sig Shard {
  var fence: one Fence,
  var holder: lone Relay,
  /** Who has marked under which fence. */
  var markers: Fence -> Relay,
}

/** A process that publishes the shard. */
sig Relay {
  /** The fence of the lease that the process believes to have. */
  var lease: lone Fence,
  /** The rows of the round under way. */
  var batch: set Event,
  /** The rows that the bus has acknowledged and that are not marked yet: no round reads them again. */
  var published: set Event,
  /** The fence under which the batch was read, and the published rows were. */
  var under: lone Fence,
  /** The rows of the mark statement that the database executes. */
  var marking: set Event,
}

/** Kafka has lost its data, and has no topics until somebody creates them. */
one sig Kafka {}
var lone sig Lost, FencesRaised, Republished in Kafka {}

/** Seeded bugs. Each is found by a check below. */
abstract sig Bug {}
lone sig CursorInsteadOfMarks, LeaseWithoutFence, MarkWithoutFence, IdBeforeLock, TopicsBeforeTheWait,
  RepublishInOneTransaction, PositionWithoutKeys extends Bug {}

/* What stays as it is in a step. */
pred writersStay {
  Numbered' = Numbered and Locked' = Locked and Committed' = Committed and RolledBack' = RolledBack
  earlier' = earlier and lower' = lower
}
pred marksStay { Marked' = Marked }
pred shardStays { fence' = fence and holder' = holder and markers' = markers }
pred topicStays { InTopic' = InTopic and ahead' = ahead }
pred kafkaStays { Lost' = Lost and FencesRaised' = FencesRaised and Republished' = Republished }
pred relayStays[r: Relay] {
  r.lease' = r.lease and r.batch' = r.batch and r.published' = r.published and r.under' = r.under
  r.marking' = r.marking
}
pred onlyWriters { marksStay and shardStays and topicStays and kafkaStays and all r: Relay | relayStays[r] }
pred only[r: Relay] { writersStay and kafkaStays and all other: Relay - r | relayStays[other] }

/* Writers. */

/** The statement waits for the row lock, takes the next sequence under it, and draws the outbox id. */
pred lock[e: Event] {
  e not in Locked + Committed + RolledBack
  no Locked & key.(e.key)
  some IdBeforeLock implies e in Numbered
  Locked' = Locked + e
  earlier' = earlier + e -> (Committed & key.(e.key))
  Numbered' = Numbered + e
  lower' = lower + (e in Numbered => none -> none else e -> Numbered)
  Committed' = Committed and RolledBack' = RolledBack
  onlyWriters
}

/** Seeded: the id is drawn before the row lock is taken. */
pred drawEarly[e: Event] {
  some IdBeforeLock and e not in Numbered
  Numbered' = Numbered + e
  lower' = lower + e -> Numbered
  Locked' = Locked and Committed' = Committed and RolledBack' = RolledBack and earlier' = earlier
  onlyWriters
}

pred commit[e: Event] {
  e in Locked
  Locked' = Locked - e and Committed' = Committed + e
  Numbered' = Numbered and RolledBack' = RolledBack and earlier' = earlier and lower' = lower
  onlyWriters
}

pred rollBack[e: Event] {
  e in Locked
  Locked' = Locked - e and RolledBack' = RolledBack + e
  Numbered' = Numbered and Committed' = Committed and earlier' = earlier and lower' = lower
  onlyWriters
}

/* Relays. */

fun unpublished: set Event {
  Committed - Marked - (some CursorInsteadOfMarks => Marked.lower else none)
}

/** The lease of another process has ended; a lease may end at any time, because a process may be suspended. */
pred takeOver[r: Relay] {
  Shard.holder != r
  fence' = Shard -> (some LeaseWithoutFence => Shard.fence else Shard.fence.next)
  holder' = Shard -> r and markers' = markers
  r.lease' = Shard.fence'
  r.batch' = r.batch and r.published' = r.published and r.under' = r.under and r.marking' = r.marking
  only[r] and marksStay and topicStays
}

/** The renewal shows a process the fence that its lease has now, or that it has no lease. */
pred renew[r: Relay] {
  r.lease' = (Shard.holder = r => Shard.fence else none)
  r.batch' = r.batch and r.published' = r.published and r.under' = r.under and r.marking' = r.marking
  only[r] and marksStay and shardStays and topicStays
}

/**
 * Reads the whole queue, or what comes after the id of `position`, but no event of a key that has an earlier one before.
 * What was published under an earlier fence is marked first, or forgotten.
 */
pred read[r: Relay, position: lone Event] {
  some r.lease and no r.batch and no r.marking
  some r.published implies r.under = r.lease
  let unread = unpublished - r.published, passed = unread & (position + position.lower),
      waiting = (some PositionWithoutKeys => none else key.(passed.key)) {
    r.batch' = (some position => (unread & lower.position) - waiting else unread)
  }
  r.under' = r.lease
  r.lease' = r.lease and r.published' = r.published and r.marking' = none
  only[r] and marksStay and shardStays and topicStays
}

/**
 * The batch reaches the topic up to `last`, in the order of the ids. What comes after `last` is left for the next
 * publication, under the same fence. The check of the lease before a publish saves repetitions only, because a process may
 * be suspended right after the check, so the check is not modelled.
 */
pred publish[r: Relay, last: Event] {
  last in r.batch
  let first = last + r.batch & last.lower {
    land[r, first]
    r.batch' = r.batch - first and r.published' = r.published + first
  }
}

/** The publish fails, or the process gives it up: of the key of `last`, the events up to it are in the topic. */
pred publishPart[r: Relay, last: Event] {
  last in r.batch
  land[r, last + r.batch & last.lower & key.(last.key)]
  no r.batch' and r.published' = r.published
}

pred land[r: Relay, landed: set Event] {
  some r.batch and no Lost
  InTopic' = InTopic + landed
  ahead' = ahead + { e: landed - InTopic, f: Event | f in InTopic or f in landed & e.lower }
  r.lease' = r.lease and r.under' = r.under and r.marking' = r.marking
  only[r] and marksStay and shardStays
}

/**
 * The mark statement begins, also while a part of the batch is left: its snapshot shows the fence that the lease has at this
 * moment. What it leaves unmarked, the process forgets.
 */
pred beginMark[r: Relay] {
  some r.published and no r.marking
  r.marking' = ((r.under = Shard.fence or some MarkWithoutFence) => r.published else none)
  r.batch' = r.batch and no r.published' and r.lease' = r.lease and r.under' = r.under
  only[r] and marksStay and shardStays and topicStays
}

/** The mark statement commits. It may do so after its process has stopped. */
pred commitMark[r: Relay] {
  some r.marking
  Marked' = Marked + r.marking
  markers' = markers + Shard -> r.under -> r and fence' = fence and holder' = holder
  no r.marking' and r.lease' = r.lease and r.batch' = r.batch and r.published' = r.published and r.under' = r.under
  only[r] and topicStays
}

/** The process stops; the next one has an id of its own, so it has no lease. */
pred crash[r: Relay] {
  no r.lease' and no r.batch' and no r.published' and r.marking' = r.marking and r.under' = r.under
  holder' = holder - Shard -> r and fence' = fence and markers' = markers
  only[r] and marksStay and topicStays
}

/* Republishing into a Kafka that has lost its data. */

pred loseTopics {
  no Lost + Republished
  Lost' = Kafka and no InTopic' and no ahead' and FencesRaised' = FencesRaised and Republished' = Republished
  writersStay and marksStay and shardStays and all r: Relay | relayStays[r]
}

pred raiseFences {
  some Lost and no FencesRaised and no RepublishInOneTransaction
  FencesRaised' = Kafka and Lost' = Lost and Republished' = Republished
  fence' = Shard -> Shard.fence.next and holder' = holder and markers' = markers
  writersStay and marksStay and topicStays and all r: Relay | relayStays[r]
}

/** Every event becomes unpublished again, once no mark statement of before runs any more. */
pred clearMarks {
  some Lost and no Republished
  Republished' = Kafka and Lost' = Lost and FencesRaised' = Kafka and no Marked'
  some RepublishInOneTransaction
    => fence' = Shard -> Shard.fence.next
    else (some FencesRaised and fence' = fence and all r: Relay | some r.marking implies r.under = Shard.fence)
  holder' = holder and markers' = markers
  writersStay and topicStays and all r: Relay | relayStays[r]
}

/** The command has waited until every batch that was read before is published or given up, and marked or forgotten. */
pred createTopics {
  some Lost and some Republished
  some TopicsBeforeTheWait or all r: Relay | some r.batch + r.published implies r.under = Shard.fence
  no Lost' and Republished' = Republished and FencesRaised' = FencesRaised
  writersStay and marksStay and shardStays and topicStays and all r: Relay | relayStays[r]
}

pred nothing { writersStay and onlyWriters }

fact Steps {
  no Numbered + Locked + Committed + RolledBack + Marked + InTopic
  no earlier + lower + ahead and no lease + under and no batch + published + marking and no Lost + FencesRaised + Republished
  Shard.fence = first and no holder and no markers
  always {
    nothing or loseTopics or raiseFences or clearMarks or createTopics
    or (some e: Event | lock[e] or drawEarly[e] or commit[e] or rollBack[e])
    or (some r: Relay | takeOver[r] or renew[r] or read[r, none] or beginMark[r] or commitMark[r] or crash[r])
    or (some r: Relay, e: Event | read[r, e] or publish[r, e] or publishPart[r, e])
  }
}

/** Each acknowledged event is in the topic, or the next read of the whole outbox finds it, by whichever relay. */
assert NoEventIsLost { always (no Lost implies Committed in InTopic + (unpublished - Relay.published)) }

/** A topic has the first copies of a key's events in the order of their sequences. */
assert EventsComeInOrder { always all e: InTopic | e.earlier in e.ahead }

assert OneRelayMarksUnderAFence { always all f: Fence | lone Shard.markers[f] }

check NoEventIsLost for 2 but 4 Fence, 0 Bug, 12..12 steps expect 0 // large: for 3 but 2 Key, 2 Relay, 4 Fence, 0 Bug, 13..13 steps
check EventsComeInOrder for 2 but 4 Fence, 0 Bug, 12..12 steps expect 0 // large: for 3 but 2 Key, 2 Relay, 4 Fence, 0 Bug, 13..13 steps
check OneRelayMarksUnderAFence for 2 but 4 Fence, 0 Bug, 12..12 steps expect 0 // large: for 3 but 1 Key, 4 Fence, 0 Bug, 14..14 steps

/* Each check finds its seeded bugs. */
check NoEventIsLost for 2 but 4 Fence, 1 Bug, exactly 1 CursorInsteadOfMarks, 11..11 steps expect 1
check EventsComeInOrder for 2 but 4 Fence, 1 Bug, exactly 1 IdBeforeLock, 11..11 steps expect 1
check EventsComeInOrder for 2 but 4 Fence, 1 Bug, exactly 1 PositionWithoutKeys, 11..11 steps expect 1
check OneRelayMarksUnderAFence for 2 but 4 Fence, 1 Bug, exactly 1 LeaseWithoutFence, 13..13 steps expect 1
check NoEventIsLost for 1 but 2 Relay, 4 Fence, 1 Bug, exactly 1 MarkWithoutFence, 13..13 steps expect 1
check NoEventIsLost for 1 but 4 Fence, 1 Bug, exactly 1 RepublishInOneTransaction, 12..12 steps expect 1
check EventsComeInOrder for 2 but 1 Key, 1 Relay, 4 Fence, 1 Bug, exactly 1 TopicsBeforeTheWait, 16..16 steps expect 1
