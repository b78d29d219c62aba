import os
from collections import *

def count(text, result = {}):
  for word in text.split():
    if result.get(word) == None:
      result[word]=0
    result[word]+=1
  return result

def longest(text):
  l = ""
  for word in text.split():
    if not len(word) <= len(l) : l = word
  return l

print(count("to be or not to be"))
print(longest("a short sentence"))
