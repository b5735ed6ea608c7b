-- get
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ?;

-- get, deleted or not
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ?;

-- get, locked
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ?;

-- get, locked for share
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` = ?;

-- insert
INSERT INTO `notes` (`name`, `text`, `stars`) VALUES (?, ?, ?) RETURNING `name`, `text`, `stars`;

-- update
UPDATE `notes` SET `text` = ? WHERE `name` = ? RETURNING `name`, `text`, `stars`;

-- delete
DELETE FROM `notes` WHERE `name` = ?;

-- batchGet
SELECT `name`, `text`, `stars` FROM `notes` WHERE `name` IN (?, ?);

-- list
SELECT `name`, `text`, `stars` FROM `notes` LIMIT 51;
