-- Write leases of paths of one site (DAV-90), and those who wait for them.
--
-- KEYS[1]  version of the newest commit that anybody knew who gave a lease up
-- and for each operation three more:
--   name of whoever holds the lease; vanishes when it is not kept
--   names of those who wait, the first come first
--   by process, the last of its attempts that it has given up
-- ARGV[1]  process; ARGV[2] channel on which somebody is told to have been given a lease; ARGV[3] milliseconds that a lease
-- lives without being kept; ARGV[4] version of the newest commit that the process
-- knows, 0 for none
-- and for each operation two more: its name and the number of the attempt of the process
--
-- Returns that version as it stood before, or an empty text, and the answers to the operations.
--
-- A name is `process:attempt`. A process makes one attempt after the other for a path, so that of its attempts only the
-- last can be alive: it takes over from those before it.

local process, channel, life, newest = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]

-- Milliseconds within which somebody who was given the lease has to take it up.
local GIVEN = 1000
-- Milliseconds after which a queue vanishes in which nobody has stood, and what was given up is forgotten: by then no
-- command is on its way any more.
local FORGOTTEN = 60000
-- Milliseconds that the newest version is known: whoever finds none asks the store.
local KNOWN = 600000

-- Number of an attempt, if this process made it.
local function mine(other)
  if other and string.sub(other, 1, #process + 1) == process .. ':' then
    return tonumber(string.sub(other, #process + 2))
  end
end

local function last_given_up(given_up)
  return tonumber(redis.call('HGET', given_up, process) or 0)
end

-- Gives the lease to whoever has waited longest, or to nobody.
local function hand_on(lease, queue)
  local next = redis.call('LPOP', queue)
  if not next then
    redis.call('DEL', lease)
    return
  end
  redis.call('SET', lease, next, 'PX', GIVEN)
  redis.call('PUBLISH', channel, next)
end

local function carry_out(lease, queue, given_up, operation, number)
  local attempt = tonumber(number)
  local name = process .. ':' .. number
  local holder = redis.call('GET', lease)

  if operation == 'take' then
    -- A command that was under way while Redis hung, and whose sender has not waited for it.
    if attempt <= last_given_up(given_up) then return 0 end
    -- Its holder has gone without a word: those who wait come first.
    if not holder and redis.call('LLEN', queue) > 0 then
      hand_on(lease, queue)
      holder = redis.call('GET', lease)
    end
    local held = mine(holder)
    if held and held > attempt then return 0 end
    if held or not holder then
      redis.call('SET', lease, name, 'PX', life)
      return 1
    end
    if not redis.call('LPOS', queue, name) then redis.call('RPUSH', queue, name) end
    redis.call('PEXPIRE', queue, FORGOTTEN)
    return 0
  end

  if operation == 'keep' then
    return holder == name and redis.call('PEXPIRE', lease, life) or 0
  end

  -- `give up`: as `leave`, for this attempt and all before it, whether they have come yet or will still come.
  if operation == 'give up' then
    redis.call('HSET', given_up, process, math.max(attempt, last_given_up(given_up)))
    redis.call('PEXPIRE', given_up, FORGOTTEN)
    for _, waiting in ipairs(redis.call('LRANGE', queue, 0, -1)) do
      local earlier = mine(waiting)
      if earlier and earlier <= attempt then redis.call('LREM', queue, 0, waiting) end
    end
    local held = mine(holder)
    if held and held <= attempt then hand_on(lease, queue) end
    return 0
  end

  -- `leave`: gives the lease up, or the place in the queue.
  if holder == name then
    hand_on(lease, queue)
  else
    redis.call('LREM', queue, 0, name)
  end
  return 0
end

local known = redis.call('GET', KEYS[1])
local answers = { known or '' }
local is_left = false
for i = 1, (#ARGV - 4) / 2 do
  local operation = ARGV[3 + 2 * i]
  if operation ~= 'take' then is_left = true end
  answers[i + 1] = carry_out(KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1], operation, ARGV[4 + 2 * i])
end
if is_left and newest ~= '0' and tonumber(newest) >= tonumber(known or 0) then
  redis.call('SET', KEYS[1], newest, 'PX', KNOWN)
end
return answers
