/** `mysql` is MySQL 8, `mariadb` MariaDB through the MySQL driver; what they can do differs (RETURNING, JSON). */
export type Dialect = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'
