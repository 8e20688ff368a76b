-- Tables of the example store (Docs/HowTo/run-a-store.md). Running it again changes nothing.
create extension if not exists postgis;

create table if not exists fixes (
  device text not null,
  ring bigint not null, -- the 64 bits of the ring id as a signed number
  generation bigint not null,
  sequence bigint not null,
  utc_us bigint, -- null while the board did not know the date
  boot_us bigint not null,
  latitude_e9 bigint not null,
  longitude_e9 bigint not null,
  altitude_mm integer,
  ellipsoidal_altitude_mm integer,
  speed_mmps integer,
  course_e4 integer,
  horizontal_accuracy_mm integer,
  vertical_accuracy_mm integer,
  speed_accuracy_mmps integer,
  course_accuracy_e2 integer,
  satellites smallint,
  mode text not null,
  quality smallint not null,
  date_uncertain boolean not null,
  simulated boolean not null,
  accessory boolean not null,
  position geometry(point, 4326) generated always as
    (st_setsrid(st_makepoint(longitude_e9 / 1e9, latitude_e9 / 1e9), 4326)) stored,
  primary key (device, ring, generation, sequence)
);
create index if not exists fixes_position on fixes using gist (position);

-- Fixes that the board reported as lost.
create table if not exists gaps (
  device text not null,
  ring bigint not null,
  generation bigint not null,
  first bigint not null,
  next bigint not null,
  count bigint not null,
  details jsonb not null,
  primary key (device, ring, generation, first, next)
);

create table if not exists events (
  device text not null,
  ring bigint not null,
  number numeric(20) not null,
  event jsonb not null,
  primary key (device, ring, number)
);

-- Messages that name a preceding fix which the store does not have.
create table if not exists holes (
  device text not null,
  ring bigint not null,
  generation bigint not null,
  sequence bigint not null,
  seen timestamptz not null default now(),
  primary key (device, ring, generation, sequence)
);

-- Messages that cannot be stored. One that was refused arrived as the board sent it, and the board does not send it again: it is
-- not removed, and the store keeps 100 of a device. Of those that were damaged on the way, it keeps the newest 1,000.
create table if not exists poison (
  id bigint generated always as identity primary key,
  received timestamptz not null default now(),
  topic text not null,
  reason text not null,
  message bytea not null
);
alter table poison add column if not exists refused boolean not null default false;

-- What the last receipt of a ring says.
create table if not exists receipts (
  device text not null,
  ring bigint not null,
  generation bigint,
  sequence bigint,
  gap_generation bigint,
  gap_next bigint,
  gap_checksum text,
  event numeric(20),
  primary key (device, ring)
);
alter table receipts add column if not exists gap_checksum text;

-- Every fix with its time: UTC, or the boot time placed with the nearest fix of the same generation whose UTC is known.
create or replace view placed_fixes as
select f.*, coalesce(f.utc_us, f.boot_us + o.offset_us) as time_us
from fixes f left join lateral (
  select utc_us - boot_us as offset_us from fixes
  where f.utc_us is null and utc_us is not null
    and (device, ring, generation) = (f.device, f.ring, f.generation)
  order by abs(sequence - f.sequence) limit 1
) o on true;

-- Lines through consecutive fixes: a track ends before a pause of more than five minutes.
create or replace view tracks as
with timed as (
  select device, ring, generation, sequence, time_us, position,
    time_us - lag(time_us) over (partition by device order by time_us) > 300000000 as is_first
  from placed_fixes where time_us between 0 and 253402300799999999
), numbered as (
  select *, count(*) filter (where is_first) over (partition by device order by time_us) as track from timed
)
select device, track, count(*) as fixes, to_timestamp(min(time_us) / 1e6) as start, to_timestamp(max(time_us) / 1e6) as stop,
  st_makeline(position order by time_us, sequence) as line
from numbered group by device, track having count(*) > 1;
