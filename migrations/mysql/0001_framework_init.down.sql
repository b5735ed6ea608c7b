DROP TABLE operations;

DROP TABLE tenant_event_policy;

DROP TABLE tenant_event_seq;

DROP TABLE tenant_fence;

DROP TABLE idempotency_keys;

DROP TABLE idempotency_markers;

DROP TABLE outbox_dead_letter;

DROP TABLE outbox_dispatch_cursor;

DROP TABLE outbox;
