def greet(name):
    return "Hello, " + name + "!"

def shout(text, times):
    return text.upper() * times

print(greet("World"))
print(shout("hi ", 3))
