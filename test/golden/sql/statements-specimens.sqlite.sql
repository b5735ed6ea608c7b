-- get
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL;

-- get, deleted or not
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `id` = ? AND `account_id` = ?;

-- get, if it matches
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `id` = ? AND `account_id` = ? AND `etag` = ? AND `deleted_at` IS NULL;

-- get, locked
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL;

-- get, locked for share
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL;

-- get, by the system
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `id` = ? AND `deleted_at` IS NULL;

-- tenantsOf
SELECT `account_id` FROM `specimens` WHERE `id` = ? LIMIT 2;

-- insert
INSERT INTO `specimens` (`id`, `title`, `note`, `active`, `count`, `weight`, `big`, `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `webhook_secret_hash`, `webhook_secret_cipher`, `api_key_public_id`, `api_key_salt`, `api_key_hash`, `api_key_hashspec`, `bin`, `account_id`, `deleted_at`, `expire_time`) VALUES (?, ?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS NUMERIC), ?, ?, ?, ?, ?, CAST(? AS INTEGER), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time`;

-- update
UPDATE `specimens` SET `title` = ?, `etag` = ?, `update_time` = MAX(COALESCE(`update_time`, ''), ?), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL RETURNING `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time`;

-- update, if it matches
UPDATE `specimens` SET `title` = ?, `etag` = ?, `update_time` = MAX(COALESCE(`update_time`, ''), ?), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `etag` = ? AND `deleted_at` IS NULL RETURNING `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time`;

-- delete
UPDATE `specimens` SET `etag` = ?, `update_time` = MAX(COALESCE(`update_time`, ''), ?), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NULL;

-- delete, if it matches
UPDATE `specimens` SET `etag` = ?, `update_time` = MAX(COALESCE(`update_time`, ''), ?), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `etag` = ? AND `deleted_at` IS NULL;

-- undelete
UPDATE `specimens` SET `etag` = ?, `update_time` = MAX(COALESCE(`update_time`, ''), ?), `deleted_at` = ? WHERE `id` = ? AND `account_id` = ? AND `deleted_at` IS NOT NULL RETURNING `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time`;

-- batchGet
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `account_id` = ? AND `id` IN (?, ?) AND `deleted_at` IS NULL;

-- find by api_key_public_id
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `webhook_secret_hash`, `webhook_secret_cipher`, `api_key_public_id`, `api_key_salt`, `api_key_hash`, `api_key_hashspec`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `api_key_public_id` = ? AND `deleted_at` IS NULL ORDER BY `id` LIMIT 2;

-- find by webhook_secret_hash
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `webhook_secret_hash`, `webhook_secret_cipher`, `api_key_public_id`, `api_key_salt`, `api_key_hash`, `api_key_hashspec`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `webhook_secret_hash` = ? AND `account_id` = ? AND `deleted_at` IS NULL ORDER BY `id` LIMIT 2;

-- purge
DELETE FROM `specimens` WHERE (`account_id`, `id`) IN (WITH chosen AS MATERIALIZED (SELECT `account_id`, `id` FROM `specimens` WHERE `expire_time` <= ? AND `account_id` = ? LIMIT ?) SELECT * FROM chosen);

-- list
SELECT `id`, `title`, `note`, `active`, `count`, `weight`, CAST(`big` AS TEXT) AS `big`, CAST(`huge` AS TEXT) AS `huge`, `ratio`, `score`, `blob`, `phase`, `due_time`, CAST(`span` AS TEXT) AS `span`, `labels`, `origin`, `tags`, `rank`, `code`, `serial`, `create_time`, `update_time`, `etag`, `bin`, `account_id`, `deleted_at`, `expire_time` FROM `specimens` WHERE `deleted_at` IS NULL LIMIT 51;
