-- get
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ?;

-- get, deleted or not
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ?;

-- get, locked
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ? FOR UPDATE NOWAIT;

-- get, locked for share
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ? LOCK IN SHARE MODE;

-- insert
INSERT INTO `notes` (`name`, `text`, `stars`) VALUES (?, ?, ?);

-- update
UPDATE `notes` SET `text` = ? WHERE `name` = ?;

-- delete
DELETE FROM `notes` WHERE `name` = ?;

-- batchGet
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` IN (?, ?);

-- list
SELECT `name`, `text`, `stars` FROM `notes` LIMIT 51;
